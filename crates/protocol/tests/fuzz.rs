//! What a hostile guest may write into a frame, fuzzed.

use toolcell_protocol::{Call, Load, Reply, Resume, decode, encode};

toolcell_fuzz::target!(frames, |bytes| {
    if let Ok(reply) = decode::<Reply>(bytes) {
        assert_eq!(decode::<Reply>(&encode(&reply).unwrap()), Ok(reply));
    }
    let _ = decode::<Load<'_>>(bytes);
    let _ = decode::<Call<'_>>(bytes);
    let _ = decode::<Resume<'_>>(bytes);
});
