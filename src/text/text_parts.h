// Long texts as sentences to translate, and back: what stands between sentences is kept to the
// byte.
#ifndef ATTEND_TEXT_TEXT_PARTS_H_
#define ATTEND_TEXT_TEXT_PARTS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// A sentence's bytes of a text, without white space around it.
struct TextPart {
  size_t begin = 0, end = 0;
  bool in_word = false;  // it begins within a word that the part before has begun
};

// Appends the part [begin, end) without its white space, unless that is all.
void AddTrimmed(std::string_view text, size_t begin, size_t end, std::vector<TextPart>* parts);

// Parts that a span crosses become one; both rise without overlap.
std::vector<TextPart> JoinAcross(const std::vector<TextPart>& parts,
                                 const std::vector<TextPart>& spans);

// Sentences by the rules of the language (SplitSentences); a line never shares a sentence with the
// next.
std::vector<TextPart> SentenceParts(std::string_view text, const std::string& language);
// Neighbours, as many to a part as fit together; one that does not fit alone is a part too. What a
// part that fits begins with must fit as well: `fits` is asked few times.
std::vector<TextPart> GroupParts(std::string_view text, const std::vector<TextPart>& parts,
                                 const std::function<bool(std::string_view part)>& fits);
// The same of sentences, none of which ends in a span.
std::vector<TextPart> SentenceGroups(std::string_view text, const std::string& language,
                                     const std::function<bool(std::string_view part)>& fits,
                                     const std::vector<TextPart>& spans = {});
// Lines that are not blank.
std::vector<TextPart> LineParts(std::string_view text);

// What joins the translations of two neighbours: what stood between them, or where that is nothing
// a space, unless a side belongs to a script that is written without ("。").
std::string_view Joint(std::string_view before, std::string_view between, std::string_view after);

// The characters on both sides of a place within the text belong to scripts that part words by
// spaces, and neither is one.
bool IsInWord(std::string_view text, size_t place);

// Without spaces at the text's ends, and with one for each run of them.
std::string WithSingleSpaces(std::string_view text);

// White space with a space for each line end.
std::string WithoutLineEnds(std::string_view white_space);

// The text with each part replaced; neighbours are joined by their Joint, and where the second
// begins in a word by what stood between.
std::string ReplaceParts(std::string_view text, const std::vector<TextPart>& parts,
                         const std::function<std::string_view(size_t part)>& replacement);

}  // namespace attend

#endif  // ATTEND_TEXT_TEXT_PARTS_H_
