//! Bundles.
