//! Word segmentation with Unicode's rules (UAX #29), and with ICU's dictionaries for scripts
//! without spaces.
//!
//! Invariant: texts are segmented exactly as by the `icu_segmenter` crate with its own data.

use std::sync::LazyLock;

use icu_collections::char16trie::Char16Trie;
use icu_collections::codepointinvlist::CodePointInversionList;
use icu_provider::prelude::*;
use icu_segmenter::options::{WordBreakInvariantOptions, WordBreakOptions};
use icu_segmenter::provider::{DictionaryBreakData, SegmenterDictionaryAutoV2, SegmenterDictionaryExtendedV2};
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use zerotrie::ZeroTrieSimpleAscii;
use zerovec::ZeroVec;

use crate::dictionary_format::PackedDictionaries;

/// The dictionaries, compressed with Zstandard (RFC 8878).
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dictionary.zst"));

/// Returns the word segmenter. The dictionaries are decompressed on first use and kept. If the
/// binary is damaged there, only the rules are used.
pub(crate) fn segmenter() -> WordSegmenterBorrowed<'static> {
    static SEGMENTER: LazyLock<Option<WordSegmenter>> = LazyLock::new(load_segmenter);
    SEGMENTER.as_ref().map_or_else(
        || WordSegmenter::new_for_non_complex_scripts(WordBreakInvariantOptions::default()),
        WordSegmenter::as_borrowed,
    )
}

fn load_segmenter() -> Option<WordSegmenter> {
    let size = env!("TOOLCELL_DICTIONARY_BYTES").parse().ok()?;
    let bytes = zstd::bulk::decompress(PACKED, size).ok()?.leak();
    let dictionaries = Dictionaries(postcard::from_bytes(bytes).ok()?);
    let mut segmenter = WordSegmenter::try_new_for_non_complex_scripts(WordBreakOptions::default()).ok()?;
    segmenter.load_dictionary_unstable(&dictionaries).ok()?;
    Some(segmenter)
}

struct Dictionaries(PackedDictionaries<'static>);

impl DataProvider<SegmenterDictionaryAutoV2> for Dictionaries {
    fn load(&self, request: DataRequest<'_>) -> Result<DataResponse<SegmenterDictionaryAutoV2>, DataError> {
        let data = ZeroVec::parse_bytes(self.0.chinese_and_japanese).ok();
        let dictionary = data.map(|data| DictionaryBreakData::Char16Trie(Char16Trie { data }));
        response(dictionary.filter(|_| request.id.marker_attributes.as_str() == "cjdict"), request)
    }
}

impl DataProvider<SegmenterDictionaryExtendedV2> for Dictionaries {
    fn load(&self, request: DataRequest<'_>) -> Result<DataResponse<SegmenterDictionaryExtendedV2>, DataError> {
        let named = self.0.alphabetic.iter().find(|one| one.name == request.id.marker_attributes.as_str());
        let dictionary = named.and_then(|one| {
            let alphabet = CodePointInversionList::try_from_u32_inversion_list_slice(&one.alphabet).ok()?;
            let trie = ZeroTrieSimpleAscii::from_store(ZeroVec::parse_bytes(one.trie).ok()?);
            Some(DictionaryBreakData::ZeroTrie { alphabet, trie })
        });
        response(dictionary, request)
    }
}

fn response<M>(
    dictionary: Option<DictionaryBreakData<'static>>,
    request: DataRequest<'_>,
) -> Result<DataResponse<M>, DataError>
where
    M: DataMarker<DataStruct = DictionaryBreakData<'static>>,
{
    let missing = || DataErrorKind::IdentifierNotFound.with_req(M::INFO, request);
    let payload = DataPayload::from_owned(dictionary.ok_or_else(missing)?);
    Ok(DataResponse { metadata: DataResponseMetadata::default(), payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_apart_as_the_library_does_it() {
        let library = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
        for text in [
            "The Check-out, please",
            "CSVをJSONに変換する関数を作成して、月次の売上を集計する",
            "把每月的销售额汇总并转换成表格，然后发送给客户",
            "ช่วยแปลงไฟล์ข้อมูลเป็นตารางและคำนวณค่าเฉลี่ยของแต่ละเดือน",
            "ကျွန်တော်တို့သည်စာရင်းကိုတွက်ချက်သည်",
            "សូមគណនាផលបូកនៃតារាងនេះ",
            "ກະລຸນາຄິດໄລ່ຜົນລວມຂອງຕາຕະລາງນີ້",
        ] {
            let ours: Vec<usize> = segmenter().segment_str(text).collect();
            let theirs: Vec<usize> = library.segment_str(text).collect();
            assert_eq!(ours, theirs, "{text}");
            assert!(ours.len() > 4, "{text}");
        }
    }
}
