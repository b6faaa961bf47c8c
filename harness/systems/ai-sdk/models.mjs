// The models of the SDK's own providers, at the address of a session.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';

const anthropic = ({ baseUrl }) => createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: 'test' });
const openai = ({ baseUrl }) => createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'test' });
const google = ({ baseUrl }) => createGoogleGenerativeAI({ baseURL: `${baseUrl}/v1beta`, apiKey: 'test' });

const MODELS = {
  'anthropic-messages': (spec) => anthropic(spec)(spec.model ?? 'claude-haiku-4-5'),
  'openai-chat': (spec) => openai(spec).chat(spec.model ?? 'gpt-4.1'),
  'openai-responses': (spec) => openai(spec).responses(spec.model ?? 'gpt-5'),
  gemini: (spec) => google(spec)(spec.model ?? 'gemini-3-pro-preview'),
};

export const DIALECTS = Object.keys(MODELS);
export const modelOf = (spec) => MODELS[spec.dialect](spec);

/** The provider's own web search, under its documented name. */
export const searchTool = (spec) => spec.search && spec.dialect === 'anthropic-messages'
  ? { web_search: anthropic(spec).tools.webSearch_20250305({ maxUses: 5 }) } : {};
