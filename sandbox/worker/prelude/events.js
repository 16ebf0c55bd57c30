(function ({define, DOMException}) {
  class Event {
    #type; #cancelable; #bubbles; #composed; #prevented = false; #target = null;
    constructor(type, {cancelable = false, bubbles = false, composed = false} = {}) {
      if (arguments.length === 0) throw new TypeError('The "type" argument must be specified');
      this.#type = String(type);
      this.#cancelable = !!cancelable;
      this.#bubbles = !!bubbles;
      this.#composed = !!composed;
    }
    static aim(event, target) { event.#target = target; }
    get type() { return this.#type; }
    get cancelable() { return this.#cancelable; }
    get bubbles() { return this.#bubbles; }
    get composed() { return this.#composed; }
    get defaultPrevented() { return this.#cancelable && this.#prevented; }
    get target() { return this.#target; }
    get currentTarget() { return this.#target; }
    get timeStamp() { return 0; }
    get isTrusted() { return false; }
    preventDefault() { this.#prevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.stopped = true; }
  }
  const aim = Event.aim;
  delete Event.aim;
  class CustomEvent extends Event {
    #detail;
    constructor(type, options = {}) { super(type, options); this.#detail = options?.detail ?? null; }
    get detail() { return this.#detail; }
  }
  class EventTarget {
    #listeners = [];
    addEventListener(type, listener, options) {
      const {once = false, capture = false, signal} = Object(options) === options ? options : {capture: !!options};
      if (!listener || signal?.aborted) return;
      if (this.#listeners.some(l => l.type === String(type) && l.listener === listener && l.capture === capture)) return;
      this.#listeners.push({type: String(type), listener, once, capture});
      signal?.addEventListener('abort', () => this.removeEventListener(type, listener, options));
    }
    removeEventListener(type, listener, options) {
      const capture = !!(Object(options) === options ? options.capture : options);
      this.#listeners = this.#listeners.filter(l => l.type !== String(type) || l.listener !== listener || l.capture !== capture);
    }
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('The "event" argument must be an instance of Event.');
      aim(event, this);
      for (const l of this.#listeners.filter(l => l.type === event.type)) {
        if (!this.#listeners.includes(l)) continue;
        if (l.once) this.removeEventListener(l.type, l.listener, l.capture);
        if (typeof l.listener === 'function') l.listener.call(this, event);
        else l.listener.handleEvent(event);
        if (event.stopped) break;
      }
      return !event.defaultPrevented;
    }
  }
  let making = false;
  const abort = (signal, reason) => {
    if (signal.aborted) return;
    states.set(signal, reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason);
    const event = new Event('abort');
    if (typeof signal.onabort === 'function') signal.onabort(event);
    signal.dispatchEvent(event);
  };
  const states = new Map();
  class AbortSignal extends EventTarget {
    onabort = null;
    constructor() {
      if (!making) throw new TypeError('Illegal constructor');
      super();
    }
    get aborted() { return states.has(this); }
    get reason() { return states.get(this); }
    throwIfAborted() { if (this.aborted) throw this.reason; }
    static abort(reason) { const signal = make(); abort(signal, reason); return signal; }
    static timeout() { throw new TypeError('AbortSignal.timeout is not available in bodies: bodies cannot wait'); }
    static any(signals) {
      const signal = make();
      for (const s of signals) {
        if (s.aborted) { abort(signal, s.reason); break; }
        s.addEventListener('abort', () => abort(signal, s.reason));
      }
      return signal;
    }
  }
  const make = () => {
    making = true;
    try { return new AbortSignal(); } finally { making = false; }
  };
  class AbortController {
    #signal = make();
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
  }
  for (const c of [Event, EventTarget, AbortSignal, AbortController]) {
    Object.defineProperty(c.prototype, Symbol.toStringTag, {value: c.name, configurable: true});
  }
  define(globalThis, {Event, CustomEvent, EventTarget, AbortSignal, AbortController});
})
