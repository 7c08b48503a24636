//! Any run lengths are a mask or an error; a mask comes back from each of its spellings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mohs_data::Mask;

fuzz_target!(|input: (u16, u16, &str, Vec<u32>)| {
    let (height, width, text, counts) = input;
    let (height, width) = (u32::from(height), u32::from(width));
    let masks =
        [Mask::from_compressed(height, width, text), Mask::from_counts(height, width, &counts)];
    for mask in masks.into_iter().flatten() {
        assert_eq!(Mask::from_compressed(height, width, &mask.to_compressed()).as_ref(), Ok(&mask));
        assert_eq!(Mask::from_counts(height, width, mask.counts()).as_ref(), Ok(&mask));
        if height * width <= 65_536 {
            assert_eq!(Mask::from_bitmap(height, width, &mask.to_bitmap()).as_ref(), Ok(&mask));
        }
    }
});
