//! Readers of trace formats: bytes on disk to the event model.
