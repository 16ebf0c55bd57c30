// NAME: a guard in AssemblyScript: calls are sent in working hours only, Monday to
// Friday from 9 to 17, by the plan's clock. A module has no clock of its own.

const ALLOW = '{"allow":true}';
const NO_CLOCK = '{"allow":false,"code":"no_clock","reason":"the plan does not say what time it is"}';
const CLOSED = '{"allow":false,"code":"closed","reason":"it is outside working hours, which are Monday to Friday from 9 to 17"}';

const FIRST_HOUR = 9;
const LAST_HOUR = 17; // no longer allowed

// What the host holds bare addresses of must not be collected.
let request: StaticArray<u8> = new StaticArray<u8>(0);
let verdict: ArrayBuffer = new ArrayBuffer(0);

export function bir_guard_v1(): i32 {
  return 1;
}

export function bir_alloc(length: i32): usize {
  request = new StaticArray<u8>(length);
  return changetype<usize>(request);
}

export function bir_step(at: usize, length: i32): u64 {
  return answer(judge(String.UTF8.decodeUnsafe(at, length)));
}

// judge looks for the plan, which stands before anything that others wrote, and for
// the clock inside it.
function judge(text: string): string {
  const plan = text.indexOf('"plan":{');
  const end = text.indexOf("}", plan);
  const now = text.indexOf('"now":"', plan);
  if (plan < 0 || now < 0 || now > end) return NO_CLOCK;
  return isOpen(text.substr(now + 7, 19)) ? ALLOW : CLOSED;
}

// isOpen reads the local time that RFC 3339 starts with, such as 2026-05-04T09:00:00.
function isOpen(local: string): bool {
  const date = Date.fromString(local + "Z");
  const day = date.getUTCDay(); // 0 is Sunday
  const hour = date.getUTCHours();
  return day >= 1 && day <= 5 && hour >= FIRST_HOUR && hour < LAST_HOUR;
}

function answer(text: string): u64 {
  verdict = String.UTF8.encode(text);
  return ((changetype<usize>(verdict) as u64) << 32) | (verdict.byteLength as u64);
}
