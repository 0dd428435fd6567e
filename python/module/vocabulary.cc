// attend.Vocabulary.
#include "attend/vocabulary.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/texts.h"
#include "text/tokenizer.h"

namespace attend {
namespace nb = nanobind;
namespace {

using Ids = std::vector<int32_t>;

std::shared_ptr<Vocabulary> LoadVocabulary(const std::filesystem::path& path) {
  const WithoutGil released;
  return std::const_pointer_cast<Vocabulary>(Vocabulary::Load(path));
}

template <int64_t SpecialIds::* id>
int64_t SpecialId(const Vocabulary& vocabulary) {
  return vocabulary.special_ids().*id;
}

}  // namespace

void BindVocabulary(nb::module_& module) {
  nb::class_<Vocabulary>(module, "Vocabulary", "A vocabulary of tokens: text to ids and back.")
      .def(nb::new_(&LoadVocabulary), nb::arg("path"),
           "Reads a SentencePiece model, or a Hugging Face tokenizer.json of\n"
           "WordPiece or byte-level BPE.")
      .def(
          "encode",
          [](const Vocabulary& self, const nb::str& line) { return self.Encode(TextOf(line)); },
          nb::arg("line"), "Ids of one line's pieces, without bos or eos.")
      .def(
          "sample",
          [](const Vocabulary& self, const nb::str& line, double strength, uint64_t key) {
            return self.Sample(TextOf(line), strength, key);
          },
          nb::arg("line"), nb::arg("strength"), nb::arg("key"),
          "Ids of one cut drawn at random, which `key` alone decides: BPE-dropout of probability\n"
          "`strength`, or, of a unigram vocabulary, subword regularisation with it as alpha.")
      .def(
          "decode", [](const Vocabulary& self, const Ids& ids) { return StrOf(self.Decode(ids)); },
          nb::arg("ids"),
          "Text of ids, one line; pad, bos and eos give nothing, nor does a special token of a\n"
          "tokenizer.json.")
      .def("piece", &Vocabulary::Piece, nb::arg("id"),
           "The piece of an id as the file spells it, such as '▁house'.")
      .def(
          "id", [](const Vocabulary& self, const nb::str& piece) { return self.Id(TextOf(piece)); },
          nb::arg("piece"), "The id of a piece; `unk` for one that is not there.")
      .def("__len__", [](const Vocabulary& self) { return static_cast<size_t>(self.size()); })
      .def_prop_ro(
          "type", [](const Vocabulary& self) { return TypeName(self.type()); },
          "How text is cut: 'unigram', 'bpe', 'word' or 'char'; of a tokenizer.json\n"
          "'wordpiece' or 'byte_bpe'.")
      .def_prop_ro("pad", &SpecialId<&SpecialIds::pad>, "Id of padding; -1: none.")
      .def_prop_ro("unk", &SpecialId<&SpecialIds::unk>, "Id of what is unknown; -1: none.")
      .def_prop_ro("bos", &SpecialId<&SpecialIds::bos>,
                   "Id that begins a target, or a text for an encoder; -1: none.")
      .def_prop_ro("eos", &SpecialId<&SpecialIds::eos>, "Id that ends a text.");
}

}  // namespace attend
