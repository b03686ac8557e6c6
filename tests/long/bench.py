"""``make bench``: the host's cost of a round, how quick the window is, or any benchmark that ``tandem bench`` runs.

bench.py [hostcost] [--target …] [--draft …] [--tokens N] [--length K] [--temperature T [--unfiltered]] [--bar MS]
bench.py window                      each figure against its bar
bench.py speed --prompts FILE …      as 'tandem bench'
bench.py memory …                    the plan against what the worker holds (memory.py)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from backend.bench import hostcost
from backend.bench.workloads import DEMO
from backend.cli import main as tandem
from backend.cli_pair import add_pair_options, choose_pair, temperature, whole
from backend.cli_session import Session
from backend.errors import EngineError
from backend.protocol import Sampling
from tests.long import memory


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "speed":
        return tandem(["bench", *arguments[1:]])
    if arguments and arguments[0] == "window":
        from tests.long import window_speed  # Qt is needed for this one only

        return window_speed.main([])
    if arguments and arguments[0] == "memory":
        return memory.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="bench", description="Host cost of a round.")
    add_pair_options(parser)
    parser.add_argument("--tokens", type=whole(16), default=96, metavar="N")
    parser.add_argument("--length", type=whole(1, 48), default=4, metavar="K")
    parser.add_argument("--temperature", type=temperature, default=0.0, metavar="T")
    parser.add_argument("--unfiltered", action="store_true", help="neither top-k nor top-p")
    parser.add_argument("--bar", type=float, metavar="MS", help="default: 1, 2 at a temperature, 3 unfiltered")
    args = parser.parse_args(arguments[1:] if arguments[:1] == ["hostcost"] else arguments)
    try:
        return host_cost(args)
    except EngineError as error:
        sys.stderr.write(f"bench: {error.message}\n")
        return 1


def host_cost(args: argparse.Namespace) -> int:
    sampling = Sampling(temperature=args.temperature, seed=0)
    if args.unfiltered:
        sampling = sampling.model_copy(update={"top_k": 0, "top_p": 1.0})
    choice = choose_pair(args.target, args.draft)
    with Session(choice.files) as session:
        state = session.load(choice.load_request(args))
        work = hostcost.measure(session.client, DEMO, max_tokens=args.tokens, length=args.length, sampling=sampling)
        costs = session.run(work)
    assert state.target is not None
    write = sys.stdout.write
    write(
        f"{state.target.name}, vocabulary {state.target.n_vocab:,}, drafts of {args.length}, {state.threads} threads\n"
    )
    for cost in costs:
        write(
            f"  {cost.prompt_id:8} {cost.rounds:4} rounds {cost.tokens:4} tokens  wall {cost.wall_ms:8.1f} ms  "
            f"in llama_decode {cost.decode_ms:8.1f} ms  host {cost.per_round:.3f} ms a round "
            f"({cost.in_rounds:.3f} inside the rounds)\n"
        )
    mean = hostcost.mean(costs)
    bar = args.bar or hostcost.bar_ms(sampling)
    good = mean <= bar
    write(f"host cost {mean:.3f} ms a round, bar {bar:.1f} ms: {'met' if good else 'NOT met'}\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
