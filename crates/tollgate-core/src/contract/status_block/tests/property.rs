//! What holds for every document and every text.
