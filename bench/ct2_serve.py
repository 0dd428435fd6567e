"""A translation service as a user would write one: CTranslate2 behind aiohttp, requests gathered into batches.

usage: bench/ct2_serve.py --model DIR [--port 0] [--threads 2] [--batch-size 32] [--wait-ms 5] [--queue 256]
       [--beam-size 1] [--min-length N] [--max-length N]

DIR is attend's model directory. POST /v1/translate takes {"text": TEXT} and answers {"text": TRANSLATION}, or 503 where too much
waits. Each of --threads takes what waits, up to --batch-size, once the first request of a batch has waited --wait-ms. Prints the
port when it serves. Needs the Python packages aiohttp, ctranslate2 and sentencepiece (tools/requirements_tests.txt).
"""

import argparse
import asyncio
import concurrent.futures
import json
import pathlib
import tempfile

import ctranslate2
from aiohttp import web
from compare_outputs import convert, processor


class Batcher:
    def __init__(self, options, path):
        self.options = options
        self.translator = ctranslate2.Translator(path, compute_type="int8", inter_threads=options.threads, intra_threads=1)
        self.source, self.target = processor(options.model, "source"), processor(options.model, "target")
        self.threads = concurrent.futures.ThreadPoolExecutor(options.threads)
        self.queue = asyncio.Queue(options.queue)

    def translate(self, texts):
        options = self.options
        pieces = self.source.encode(texts, out_type=str)
        results = self.translator.translate_batch(
            pieces, beam_size=options.beam_size, min_decoding_length=options.min_length, max_decoding_length=options.max_length)
        return [self.target.decode(result.hypotheses[0]) for result in results]

    async def work(self):
        while True:
            batch = [await self.queue.get()]
            await asyncio.sleep(self.options.wait_ms / 1000)
            while len(batch) < self.options.batch_size and not self.queue.empty():
                batch.append(self.queue.get_nowait())
            texts, answers = zip(*batch)
            translated = await asyncio.get_running_loop().run_in_executor(self.threads, self.translate, list(texts))
            for answer, text in zip(answers, translated):
                if not answer.cancelled():
                    answer.set_result(text)

    async def handle(self, request):
        text = (await request.json())["text"]
        answer = asyncio.get_running_loop().create_future()
        try:
            self.queue.put_nowait((text, answer))
        except asyncio.QueueFull:
            return web.json_response({"error": "too much is waiting"}, status=503)
        return web.json_response({"text": await answer})


async def serve(options, path):
    batcher = Batcher(options, path)
    application = web.Application()
    application.router.add_post("/v1/translate", batcher.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port)
    await site.start()
    print(json.dumps({"event": "listening", "port": runner.addresses[0][1]}), flush=True)
    await asyncio.gather(*(batcher.work() for _ in range(options.threads)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    for name, value in (("port", 0), ("threads", 2), ("batch-size", 32), ("wait-ms", 5), ("queue", 256), ("beam-size", 1),
                        ("min-length", 1), ("max-length", 256)):
        parser.add_argument("--" + name, type=int, default=value)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        convert(options.model, path)
        asyncio.run(serve(options, path))


if __name__ == "__main__":
    main()
