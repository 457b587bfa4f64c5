//! Pure numerics on slices: transforms, filters, fits. Knows nothing of I/O, records or bytes.
