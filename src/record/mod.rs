//! The event model: what a trace holds once its format is forgotten.
