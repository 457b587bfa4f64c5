//! The learned classifier: a feed-forward network that judges a window of accesses (Madhyastha & Reed 1997, section 3.2).
//!
//! It needs no history: after one window (ten accesses, as in the paper) there is a class. One layer of tanh units looks at
//! [`features`], which are shares and ratios; three heads give the probabilities of read/write mix, sequentiality and size.
//! A further answer on the head of sequentiality says that the window holds an end and a beginning: then it is cut where both
//! sides are most probable ([`windows`]). Weights and recipe are data: `weights.json`, made by
//! `scripts/train_access_network.py` from the windows that `examples/access_windows.rs` draws.

mod features;
mod perceptron;
mod windows;

pub use perceptron::training_features;
pub(crate) use perceptron::vote;
pub(crate) use windows::Windows;
