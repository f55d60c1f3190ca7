//! The run: `decide`, `evolve`, `effects`, the ledger and the invariants.
