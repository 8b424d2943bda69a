//! Reads stores after the clock has stopped, as the answer of a test that changed or visited them.

use anyhow::Result;
use dyno_inputs::StoreDigest;
use dyno_protocol::{Store, Value};

use crate::kv::KeyValue;
use crate::test_context::TestContext;
use crate::{Engine, Session};

/// The digest of each store that the test was about.
pub fn digests<E: Engine>(stores: &[Store], bench: &mut TestContext<E>) -> Result<()> {
    bench.answer.begin(true);
    for store in stores {
        let mut digest = StoreDigest::default();
        bench.session.store(store)?.scan(|key, value| digest.add(key, value))?;
        bench.answer.row(&digest.answer());
    }
    Ok(())
}

/// The count and one checksum over all keys in the order in which a scan meets them.
pub fn order<E: Engine>(store: &Store, bench: &mut TestContext<E>) -> Result<()> {
    let mut count = 0;
    let mut keys = crc32fast::Hasher::new();
    bench.session.store(store)?.scan(|key, _| {
        count += 1;
        keys.update(key);
    })?;
    bench.answer.begin(true);
    bench.answer.row(&[Value::Integer(count), Value::Integer(keys.finalize().into())]);
    Ok(())
}
