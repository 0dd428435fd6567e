"""Small models of other toolkits with random weights, each in a folder that it makes, as `attend import` reads them."""

import bart_models
import convert_encoders_test as encoders
import convert_fairseq_test as fairseq
import convert_marian_test as marian
import convert_npz_test as npz
import convert_t5_test as t5
import transformers


def write_marian(folder):
    folder.mkdir()
    size = marian.write_vocabularies(folder)
    config = transformers.MarianConfig(
        vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1, eos_token_id=0, activation_function="relu", **bart_models.SHAPE)
    model = transformers.MarianMTModel(config)
    model.model.shared.weight.data[-1] = 0
    model.save_pretrained(folder)


def write_t5(folder):
    folder.mkdir()
    size = t5.write_tokenizer(folder)
    transformers.T5ForConditionalGeneration(
        transformers.T5Config(vocab_size=size, d_model=32, d_ff=48, num_layers=2, decoder_start_token_id=0, **t5.SHAPES["t5"])).save_pretrained(folder)


def write_t5_json(folder):
    write_t5(folder)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    (folder / "spiece.model").unlink()


def write_bert(folder):
    return encoders.encoder(folder, "bert", "")


def write_old_roberta(folder):
    encoders.encoder(folder, "roberta", "ForMaskedLM")
    (folder / "tokenizer.json").unlink()


def write_old_bert(folder):
    tokenizer, _ = write_bert(folder)
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in tokens), encoding="utf-8")
    (folder / "tokenizer.json").unlink()


def write_npz(folder, variant="plain"):
    folder.mkdir()
    npz.made(folder, npz.VARIANTS[variant])


def write_npz_of_words(folder):
    folder.mkdir()
    oracle, _ = npz.made(folder, {})
    (folder / "vocab.spm").unlink()
    words = ["</s>", "<unk>", *(f"w{i}" for i in range(oracle.size - 2))]
    (folder / "words.yml").write_text("".join(f'"{word}": {i}\n' for i, word in enumerate(words)), encoding="utf-8")
    (folder / "model.npz.yml").write_text("vocabs:\n  - words.yml\n  - words.yml\n", encoding="utf-8")


def write_fairseq(folder):
    options = fairseq.options_of()
    fairseq.write(folder, options, fairseq.weights_of(options, [4 + len(fairseq.WORDS), 4 + len(fairseq.OTHERS)]))


def family(name):
    return lambda folder: bart_models.write_model(name, folder)
