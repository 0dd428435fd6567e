"""transformers' models of BART's family with random weights, and tokenizers trained here, as their folders hold them."""

import json
import random
import shutil

import sentencepiece
import tokenizers
import torch
import transformers

WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau holm jarn kvist myrr noord prax Ähre æon naïve".split()
SHAPE = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 64, "max_position_embeddings": 80}
NLLB_LANGUAGES = ["eng_Latn", "fra_Latn", "zho_Hans", "zho_Hant"]


def sentences(count, seed):
    numbers = random.Random(seed)
    return [" ".join(numbers.choice(WORDS) for _ in range(numbers.randint(1, 12))) + numbers.choice(["", ".", " 12!"]) for _ in range(count)]


def train_pieces(folder, name, lines=None, **options):
    """A SentencePiece model, `name` in the folder."""
    text = folder / "text"
    text.write_text("\n".join(lines or sentences(400, 1)) + "\n", encoding="utf-8")
    usual = {"vocab_size": 90, "hard_vocab_limit": False, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(folder / "m"), **(usual | options))
    shutil.move(folder / "m.model", folder / name)
    for extra in ("m.vocab", "text"):
        (folder / extra).unlink()


def write_bart(folder, lines=None):
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        lines or sentences(300, 1), vocab_size=330, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False)
    tokenizer.save_model(str(folder))
    files = {"vocab": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}
    transformers.BartTokenizer(**files).save_pretrained(folder)  # adds <mask>
    return transformers.BartTokenizer.from_pretrained(folder)


def write_mbart(folder, lines=None):
    """The first one: a tag after the source, and as the decoder's start."""
    train_pieces(folder, "sentencepiece.bpe.model", lines)
    tokenizer = transformers.MBartTokenizer.from_pretrained(folder, src_lang="en_XX", tgt_lang="ro_RO")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MBartTokenizer"}), encoding="utf-8")
    return tokenizer


def write_mbart50(folder, lines=None):
    """tokenizer.json alone, as transformers 5 writes it."""
    train_pieces(folder, "sentencepiece.bpe.model", lines)
    transformers.MBart50Tokenizer.from_pretrained(folder, src_lang="en_XX", tgt_lang="ro_RO").save_pretrained(folder)
    (folder / "sentencepiece.bpe.model").unlink()
    return transformers.MBart50Tokenizer.from_pretrained(folder)


def write_m2m100(folder, lines=None):
    """Ids that are not SentencePiece's, then the languages."""
    train_pieces(folder, "sentencepiece.bpe.model", lines, model_type="bpe")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *(pieces.id_to_piece(i) for i in range(pieces.get_piece_size() - 1, 2, -1))]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8")
    files = str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model")
    transformers.M2M100Tokenizer(*files, src_lang="en", tgt_lang="fr").save_pretrained(folder)
    return transformers.M2M100Tokenizer.from_pretrained(folder)


def write_nllb(folder, lines=None):
    """BPE of words, tokenizer.json alone."""
    train_pieces(folder, "sentencepiece.bpe.model", lines, model_type="bpe")
    tokenizer = transformers.NllbTokenizer.from_pretrained(folder, additional_special_tokens=NLLB_LANGUAGES)
    tokenizer.save_pretrained(folder)
    (folder / "sentencepiece.bpe.model").unlink()
    return transformers.NllbTokenizer.from_pretrained(folder, src_lang="eng_Latn", tgt_lang="fra_Latn")


def write_pegasus(folder, lines=None):
    train_pieces(folder, "spiece.model", lines, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return transformers.PegasusTokenizer.from_pretrained(folder)


FAMILIES = {
    "bart": (write_bart, "Bart", {"forced_bos_token_id": 0}), "mbart": (write_mbart, "MBart", {"scale_embedding": True}),
    "mbart50": (write_mbart50, "MBart", {"scale_embedding": True, "decoder_start_token_id": 2}), "m2m100": (write_m2m100, "M2M100", {}),
    "nllb": (write_nllb, "M2M100", {}), "pegasus": (write_pegasus, "Pegasus", {"scale_embedding": True}),
}
LANGUAGES = {
    "mbart": ("en_XX", "ro_RO"), "mbart50": ("en_XX", "ro_RO"), "m2m100": ("en", "fr"), "nllb": ("eng_Latn", "fra_Latn")}


def drawn(model, seed, eos, without_text):
    """With random weights, whose outputs have text, depend on the source and end some time."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            size = 0.9 if "encoder_attn.v_proj" in name or "encoder_attn.out_proj" in name else 0.3
            if "embed_positions" not in name or value.requires_grad:
                value.copy_(torch.randn_like(value) * size + (1 if "norm" in name and name.endswith("weight") else 0))
        lift = torch.zeros(model.config.vocab_size)
        lift[[i for i in without_text if i < len(lift)]] = -20
        lift[eos] = 6
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias) * 0.3 + lift)
        else:  # along the norm's bias, which is in every state
            bias = model.model.decoder.layer_norm.bias
            model.model.shared.weight += lift.unsqueeze(1) * bias / (bias @ bias)
    return model.eval()


def write_model(family, folder, lines=None, more_rows=5, seed=3, **settings):
    """A model in the folder, with some rows that no token has; returns transformers' model and tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    write, name, usual = FAMILIES[family]
    tokenizer = write(folder, lines)
    tags = list(getattr(tokenizer, "lang_code_to_id", {}).values())
    tokens = max([len(tokenizer), *(tag + 1 for tag in tags)])
    config = getattr(transformers, f"{name}Config")(vocab_size=tokens + more_rows, **(SHAPE | usual | settings))
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config)
    blank = [i for i in range(len(tokenizer)) if not tokenizer.decode([i]).strip()]
    drawn(model, seed, config.eos_token_id, [*blank, *tokenizer.all_special_ids, *tags, *range(tokens, tokens + more_rows)])
    model.save_pretrained(folder)
    return model, tokenizer
