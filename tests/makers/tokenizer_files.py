"""A small tokenizer.json of Hugging Face: pieces of bytes, learned from sentences of our own."""

import functools

from tests.makers.spm_models import SENTENCES

END = "<|endoftext|>"


@functools.cache
def small_tokenizer(size: int = 400) -> bytes:
    """The bytes of the file; it cuts and pads texts, and adds tokens, as those of encoders do."""
    import tokenizers
    from tokenizers import models, pre_tokenizers, processors, trainers

    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    end = tokenizer.token_to_id(END)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{END} $0", special_tokens=[(END, end)]
    )
    tokenizer.enable_truncation(max_length=4)
    tokenizer.enable_padding(length=64)
    return str(tokenizer.to_str()).encode("utf-8")
