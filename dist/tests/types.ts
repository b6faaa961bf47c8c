// Checks the types of `brickbat/test`.
import { test } from "node:test";
import { assertHistory, strictProvider, StrictProvider, type Followed, type Refusal } from "brickbat/test";
import { StandardInterruptionTests, type Setup } from "brickbat/standard";

class OwnTests extends StandardInterruptionTests {
  requirements = "2026-12";
  dialect = "gemini" as const;
  // @ts-expect-error There is no such capability.
  lacks = { stops: "none" };
  makeAgent({ baseURL, tools }: Setup) {
    return { turn: async (text: string, { signal }: { signal: AbortSignal }) => console.log(baseURL, await tools[0].run({ key: text }, { signal })) };
  }
}
OwnTests.register({ describe: (_, body) => body(), test });

test("types", async (context) => {
  const provider: StrictProvider = await strictProvider(context, { host: "api.x.ai", faults: ["eof", "reset"], stall: 2 });
  const stop = await provider.stopAt("after calls");
  await stop.reached({ timeout: 1000 });
  await stop.release();
  const followed: Followed | null = await stop.followedBy();
  if (followed !== null && followed !== "accepted") console.log(followed.refused);
  await provider.fault("overloaded");
  // @ts-expect-error A fault inside a reply needs a point.
  await provider.fault("reset");
  // @ts-expect-error There is no such option.
  await StrictProvider.start({ hots: "api.x.ai" });
  const refusals: Refusal[] = await provider.refusals();
  for (const { content } of (await provider.histories())[0].items) if (content.kind === "call") console.log(content.args);
  assertHistory(refusals, { dialect: "gemini" });
  console.log(provider.openai, provider.baseUrls["openai-responses"], (await provider.report()).requests);
});
