// An extension of pi that registers the scripted model of the tests.
export default function (pi: any) {
  pi.registerProvider("scripted", {
    baseUrl: process.env.SCRIPTED_MODEL,
    apiKey: "none",
    api: "openai-completions",
    models: [
      {
        id: "scripted-1",
        name: "Scripted",
        reasoning: false,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 128000,
        maxTokens: 4096,
      },
    ],
  });
}
