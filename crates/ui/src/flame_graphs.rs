//! The flame graphs of the last runs in the playground, which pages show as images.
//!
//! Invariant: a bounded number of images of a bounded size is kept, each under a name that cannot be guessed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The maximum number of images, and the maximum size of each in bytes.
const MAX_IMAGES: usize = 16;
const MAX_IMAGE_BYTES: usize = 2 << 20;

/// The last flame graphs, the oldest first.
#[derive(Default)]
pub(crate) struct FlameGraphs(Mutex<VecDeque<(String, String)>>);

impl FlameGraphs {
    /// Keeps an image, and returns its name; `None` if it is too large.
    pub(crate) fn keep(&self, drawn: String) -> Option<String> {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).ok().filter(|()| drawn.len() <= MAX_IMAGE_BYTES)?;
        let name = format!("{:032x}", u128::from_be_bytes(random));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((name.clone(), drawn));
        if kept.len() > MAX_IMAGES {
            kept.pop_front();
        }
        Some(name)
    }

    /// Returns the image with a name.
    pub(crate) fn find(&self, name: &str) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == name).map(|(_, drawn)| drawn.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_images_are_kept() {
        let graphs = FlameGraphs::default();
        let names: Vec<String> = (0..=MAX_IMAGES).map(|at| graphs.keep(at.to_string()).unwrap()).collect();
        assert_eq!((graphs.find(&names[0]), graphs.find(&names[1])), (None, Some("1".to_owned())));
        assert_eq!(graphs.keep("x".repeat(MAX_IMAGE_BYTES + 1)), None);
    }
}
