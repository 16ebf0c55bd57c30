;; A guard by hand: it denies every pin, value and step
;; whose request holds the text us-east. It has no imports and needs none.
;;
;;   wat2wasm deny-us-east.wat
;;
;; A plain search is enough: besides the arguments as they will be sent, a request
;; carries a flat list of all string values, decoded, so that us-east cannot hide
;; behind an escape.
(module
  (memory (export "memory") 32)            ;; 2 MiB; a request has at most one
  (data (i32.const 16) "us-east")          ;; what is forbidden: 7 bytes
  (data (i32.const 64) "{\"allow\":true}") ;; 14 bytes
  (data (i32.const 128) "{\"allow\":false,\"code\":\"region_denied\",\"reason\":\"the region us-east is not to be touched\"}") ;; 89 bytes

  (func (export "bir_guard_v1") (result i32) (i32.const 1))

  ;; One request at a time, so one buffer is enough.
  (func (export "bir_alloc") (param $len i32) (result i32) (i32.const 65536))

  (func $answer (export "bir_step") (export "bir_value") (export "bir_pin")
    (param $ptr i32) (param $len i32) (result i64)
    (local $last i32) (local $i i32)
    ;; the last place where the text can start, plus one
    (local.set $last (i32.sub (i32.add (local.get $ptr) (local.get $len)) (i32.const 6)))
    (block $absent
      (loop $next
        (br_if $absent (i32.ge_s (local.get $ptr) (local.get $last)))
        (local.set $i (i32.const 0))
        (block $differs
          (loop $same
            (br_if $differs
              (i32.ne
                (i32.load8_u (i32.add (local.get $ptr) (local.get $i)))
                (i32.load8_u offset=16 (local.get $i))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $same (i32.lt_u (local.get $i) (i32.const 7))))
          ;; all 7 are the same: ptr << 32 | len of the denial
          (return (i64.or (i64.shl (i64.const 128) (i64.const 32)) (i64.const 89))))
        (local.set $ptr (i32.add (local.get $ptr) (i32.const 1)))
        (br $next)))
    (i64.or (i64.shl (i64.const 64) (i64.const 32)) (i64.const 14))))
