;; A guard by hand: a plan sends at most 10 calls of one tool. A guard keeps no
;; count, since its instances come and go; the plan tells how many were sent before.
;;
;;   wat2wasm at-most-ten-calls.wat
;;
;; The first "toolCalls": of a request is the plan's own, because what bir says comes
;; before what others wrote. Without one, it is the first call.
(module
  (memory (export "memory") 32)            ;; 2 MiB; a request has at most one, and its settings
  (data (i32.const 16) "\"toolCalls\":")   ;; 12 bytes
  (data (i32.const 64) "{\"allow\":true}") ;; 14 bytes
  (data (i32.const 128) "{\"allow\":false,\"code\":\"too_many_calls\",\"reason\":\"the plan has called this tool 10 times\"}") ;; 89 bytes

  (func (export "bir_guard_v1") (result i32) (i32.const 1))

  ;; One request at a time, so one buffer is enough.
  (func (export "bir_alloc") (param $len i32) (result i32) (i32.const 65536))

  ;; whether the text at $p is the 12 bytes looked for
  (func $found (param $p i32) (result i32)
    (i32.and
      (i64.eq (i64.load (local.get $p)) (i64.load (i32.const 16)))
      (i32.eq (i32.load offset=8 (local.get $p)) (i32.load (i32.const 24)))))

  (func (export "bir_step") (param $p i32) (param $len i32) (result i64)
    (local $end i32) (local $digit i32) (local $calls i32)
    (local.set $end (i32.sub (i32.add (local.get $p) (local.get $len)) (i32.const 12)))
    (block $absent
      (loop $next
        (br_if $absent (i32.ge_s (local.get $p) (local.get $end)))
        (if (i32.eqz (call $found (local.get $p)))
          (then
            (local.set $p (i32.add (local.get $p) (i32.const 1)))
            (br $next)))
        ;; the number behind it, digit by digit
        (loop $number
          (local.set $digit (i32.sub (i32.load8_u offset=12 (local.get $p)) (i32.const 48)))
          (if (i32.lt_u (local.get $digit) (i32.const 10))
            (then
              (local.set $calls (i32.add (i32.mul (local.get $calls) (i32.const 10)) (local.get $digit)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (br $number))))
        (if (i32.ge_u (local.get $calls) (i32.const 10))
          (then (return (i64.or (i64.shl (i64.const 128) (i64.const 32)) (i64.const 89)))))))
    (i64.or (i64.shl (i64.const 64) (i64.const 32)) (i64.const 14))))
