package call

import (
	"encoding/json"
	"errors"
	"fmt"
)

const codeMethodNotFound = -32601

// ErrEnded is the cause of a call that the upstream's end left without an answer.
var ErrEnded = errors.New("the server ended")

// ErrTooLarge is an answer over the limit. The call did run.
var ErrTooLarge = errors.New("the answer is too large")

// RPCError is a JSON-RPC error that the upstream answered.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%s (JSON-RPC error %d)", e.Message, e.Code) }

// NotSentError is a call that never reached the upstream: it did not run.
type NotSentError struct{ Cause error }

func (e *NotSentError) Error() string { return fmt.Sprintf("not sent: %v", e.Cause) }
func (e *NotSentError) Unwrap() error { return e.Cause }

// NoAnswerError is a call that was sent and has no answer: whether it ran is not
// known, so it must not be repeated unasked.
type NoAnswerError struct{ Cause error }

func (e *NoAnswerError) Error() string { return fmt.Sprintf("sent, but not answered: %v", e.Cause) }
func (e *NoAnswerError) Unwrap() error { return e.Cause }
