// NAME: a guard in AssemblyScript: calls are sent in working hours only, Monday to
// Friday from 9 to 17, by the plan's clock. A module has no clock of its own.

// Written once: every turn of a loop, also of one that copies text, costs time.
const ALLOW = String.UTF8.encode('{"allow":true}');
const NO_CLOCK = String.UTF8.encode('{"allow":false,"code":"no_clock","reason":"the plan does not say what time it is"}');
const CLOSED = String.UTF8.encode(
  '{"allow":false,"code":"closed","reason":"it is outside working hours, which are Monday to Friday from 9 to 17"}',
);

const START = '{"abi":1,"kind":"step","plan":{';
const BRACE = 0x7d; // }
const QUOTE = 0x22; // "
const N = 0x6e; // n
const FIRST_HOUR = 9;
const LAST_HOUR = 17; // no longer allowed

// The host holds the bare address; what it points to must not be collected.
let request: StaticArray<u8> = new StaticArray<u8>(0);

export function bir_guard_v1(): i32 {
  return 1;
}

export function bir_alloc(length: i32): usize {
  request = new StaticArray<u8>(length);
  return changetype<usize>(request);
}

// The plan is near the start, so the rest of a long call need not be read.
export function bir_step(at: usize, length: i32): u64 {
  const verdict = judge(String.UTF8.decodeUnsafe(at, min(length, 300)));
  return ((changetype<usize>(verdict) as u64) << 32) | (verdict.byteLength as u64);
}

// judge looks for the clock in the plan, which stands before anything that others
// wrote and ends at the first brace.
function judge(text: string): ArrayBuffer {
  if (!text.startsWith(START)) return NO_CLOCK;
  for (let i = START.length; i < text.length && text.charCodeAt(i) != BRACE; i++) {
    if (text.charCodeAt(i) == QUOTE && text.charCodeAt(i + 1) == N && text.substr(i, 7) == '"now":"') {
      return isOpen(text.substr(i + 7, 19)) ? ALLOW : CLOSED;
    }
  }
  return NO_CLOCK;
}

// isOpen reads the local time that RFC 3339 starts with, such as 2026-05-04T09:00:00.
function isOpen(local: string): bool {
  const date = Date.fromString(local + "Z");
  const day = date.getUTCDay(); // 0 is Sunday
  const hour = date.getUTCHours();
  return day >= 1 && day <= 5 && hour >= FIRST_HOUR && hour < LAST_HOUR;
}
