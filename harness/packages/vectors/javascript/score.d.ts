import type { Vector } from "./index.js";

/** Thrown by a validator for a vector that it does not judge. */
export class Skip extends Error {}

/** The results for one rule. Each entry is the reason of a refusal, or null if the validator accepted. */
export interface RuleScore {
  group: string;
  rule: string | null;
  valid: (string | null)[];
  acceptable: (string | null)[];
  invalid: (string | null)[];
  /** The refusals of invalid vectors that count: no valid vector of the rule is refused for the same reason. */
  caught: string[];
  skipped: number;
}

/** Gives each vector to a validator, which returns false or throws to refuse it. */
export function score<Input>(
  validate: (input: Input, group: string, entry: Record<string, any>) => unknown,
  all: Iterable<Vector<Input>>,
): Promise<RuleScore[]>;
