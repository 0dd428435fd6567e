"""BLEU as "Attention Is All You Need" reports it (table 2): of Moses tokens, with case, compounds of German split.

As the script published with the paper's code (tensor2tensor's get_ende_bleu.sh): Unicode's quotes and dots become ASCII's, Moses'
tokeniser cuts the text (sacremoses), the parts of a German compound with a hyphen count as words of their own. Here both texts
go that way; there the reference came cut. BLEU itself, of up to 4-grams without smoothing, is `attend evaluate`'s.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

from sacremoses import MosesPunctNormalizer, MosesTokenizer

ATTEND = pathlib.Path(__file__).resolve().parents[1] / "build" / "attend"


def split_compounds(tokens):
    """"E-Mail" becomes "E ##AT##-##AT## Mail", as the scripts published with the paper's figures write it."""
    return re.sub(r"(\S)-(\S)", r"\1 ##AT##-##AT## \2", tokens)


def tokenized(path, language, folder):
    """A file beside `path`'s lines, cut into the tokens that count."""
    moses, punctuation = MosesTokenizer(language), MosesPunctNormalizer(language)
    output = pathlib.Path(folder) / path.name
    with path.open(encoding="utf-8", newline="\n") as text, output.open("w", encoding="utf-8") as cut:
        for line in text:
            tokens = moses.tokenize(punctuation.replace_unicode_punct(line.removesuffix("\n")), escape=False, return_str=True)
            cut.write((split_compounds(tokens) if language == "de" else tokens) + "\n")
    return output


def paper_bleu(hypothesis, reference, language, attend=ATTEND):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        texts = [tokenized(hypothesis, language, folder), tokenized(reference, language, other)]
        options = ["--tokenize", "none", "--smooth-method", "none", "--metrics", "bleu", "--json"]
        command = [attend, "evaluate", "--hypothesis", texts[0], "--reference", texts[1], *options]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["bleu"]["score"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hypothesis", type=pathlib.Path, help="translations, a line each")
    parser.add_argument("reference", type=pathlib.Path, help="right translations")
    parser.add_argument("language", help="of both, as Moses knows it: de, fr, en ...")
    parser.add_argument("--attend", type=pathlib.Path, default=ATTEND, help="the program that counts (default: %(default)s)")
    options = parser.parse_args()
    if not options.attend.is_file():
        parser.error(f"'{options.attend}' is missing; build it (make build), or name another with --attend")
    for path in (options.hypothesis, options.reference):
        if not path.is_file():
            parser.error(f"'{path}' is no file")
    lines = [sum(1 for _ in path.open("rb")) for path in (options.hypothesis, options.reference)]
    if lines[0] != lines[1]:
        parser.error(f"'{options.hypothesis}' has {lines[0]} lines and '{options.reference}' {lines[1]}, expected the same number")
    print(f"{paper_bleu(options.hypothesis, options.reference, options.language, options.attend.absolute()):.2f}")


if __name__ == "__main__":
    main()
