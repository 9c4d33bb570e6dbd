export { recordSpans, type RecordedSpans } from './record-spans.js';
