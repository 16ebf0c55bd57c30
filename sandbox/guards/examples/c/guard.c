// NAME: a guard in C, without a library: only these hosts. Every "://" in the call's
// arguments must be followed by one of them.
//
//   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o NAME.wasm guard.c
typedef unsigned char byte;

static const char *const hosts[] = {"api.example.com", "docs.example.com"};

#define ALLOW "{\"allow\":true}"
#define DENY "{\"allow\":false,\"code\":\"host_denied\",\"reason\":\"it goes to a host that is not on the list\"}"
#define PACK(text) ((unsigned long long)(unsigned long)(text) << 32 | (sizeof(text) - 1))

static const char allow[] = ALLOW, deny[] = DENY;
static byte request[1120 << 10]; // a request has at most 1 MiB, and 64 KiB of settings

// The host reads this section: 2 MiB is enough for a module that needs no more.
__asm__(".section .custom_section.bir.guard,\"\",@\n.ascii \"{\\\"memoryMB\\\":2}\"\n");

__attribute__((export_name("bir_guard_v1"))) int version(void) { return 1; }

// One request at a time, so one buffer is enough.
__attribute__((export_name("bir_alloc"))) byte *room(unsigned long length) {
  return length <= sizeof request ? request : (byte *)-1; // where nothing can be written
}

static int ends_host(byte c) { return c == '/' || c == '?' || c == '#' || c == '"'; }

// matches says whether the text at p is the host, with or without a port, and nothing
// else: after "host:80@" or "host\" some clients would go on reading a host.
static int matches(const byte *p, const byte *end, const char *host) {
  for (; *host; host++, p++)
    if (p >= end || *p != (byte)*host) return 0;
  if (p < end && *p == ':')
    for (p++; p < end && *p >= '0' && *p <= '9'; p++) {}
  return p < end && ends_host(*p);
}

static int known(const byte *p, const byte *end) {
  for (unsigned i = 0; i < sizeof hosts / sizeof *hosts; i++)
    if (matches(p, end, hosts[i])) return 1;
  return 0;
}

// The request lists every string of the arguments with its escapes resolved, so that
// "://" cannot hide behind one; a plain search through all of it finds them.
__attribute__((export_name("bir_step"))) unsigned long long step(const byte *p, unsigned long length) {
  for (const byte *end = p + length; p + 3 <= end; p++)
    if (p[0] == ':' && p[1] == '/' && p[2] == '/' && !known(p + 3, end)) return PACK(deny);
  return PACK(allow);
}
