// Byte-pair encoding over the bytes of a word, as GPT-2 has it (Radford et al. 2019). A file spells
// each byte as one printable character.
#ifndef ATTEND_TEXT_BYTE_BPE_H_
#define ATTEND_TEXT_BYTE_BPE_H_

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/byte_trie.h"
#include "text/subword_model.h"

namespace attend {

// The bytes that a token spells; none where one of its characters spells no byte.
std::optional<std::string> BytesOfToken(std::string_view token);

struct ByteBpeOptions {
  struct Merge {
    int32_t left = 0, right = 0, joined = 0;
  };
  std::vector<Merge> merges;   // ids of tokens; the first ones apply first
  int32_t unk = -1;            // id of a byte that is no token; -1: it is left out
  bool fuse_unknown = false;   // unknown bytes that follow each other are one token
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
};

class ByteBpe : public SubwordModel {
 public:
  // `tokens` by id.
  ByteBpe(std::span<const std::string> tokens, const ByteBpeOptions& options);

  void Encode(std::string_view word, std::vector<PlacedToken>* tokens) const override;
  // BPE-dropout with the probability `strength` (Provilkov et al. 2020).
  void Sample(std::string_view word, double strength, Random* random,
              std::vector<PlacedToken>* tokens) const override;
  std::vector<std::string> Unknown(std::string_view word) const override;

 private:
  struct Joint {
    int32_t right = 0;
    uint32_t rank = 0;  // lower ones are applied first
    int32_t joined = 0;
  };
  class Cutter;

  void MakeJoints(std::span<const ByteBpeOptions::Merge> merges, size_t tokens);
  // How two tokens join; null where they don't.
  const Joint* Find(int32_t left, int32_t right) const;

  std::array<int32_t, 256> ids_;  // of single bytes; -1 where there is no token
  int32_t unk_;
  bool fuse_unknown_;
  std::vector<Joint> joints_;      // by the id of the left token, then by that of the right one
  std::vector<size_t> joint_end_;  // of each left token; its joints begin where the last one's end
  ByteTrie words_;                 // the words whose cut is one token
};

}  // namespace attend

#endif  // ATTEND_TEXT_BYTE_BPE_H_
