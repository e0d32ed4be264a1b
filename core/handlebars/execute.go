package handlebars

import (
	"errors"
	"sync"
)

// Limits bounds one execution. The zero value stands for [MaxOutput] and [MaxSteps].
type Limits struct {
	// Output is the maximum length of the result in bytes.
	Output int
	// Steps is the maximum number of operations: each part of the template that is rendered,
	// each item of a printed array, and each member of an object that a loop sorts is one.
	Steps int
}

// The limits of an execution unless Limits has others.
const (
	MaxOutput = 2 << 20
	MaxSteps  = 1_000_000
)

// The errors of an execution.
var (
	ErrOutput = errors.New("the output of the template is too long")
	ErrSteps  = errors.New("the template takes too many steps")
	ErrDepth  = errors.New("a printed array is nested too deep")
)

// Execute appends the result for data to dst. data consists of the types of encoding/json:
// nil, bool, float64, json.Number, string, []any and map[string]any. Values of other types
// print nothing and are false. The error is ErrOutput, ErrSteps or ErrDepth; dst is then
// returned as it was. Execute allocates memory only for the output and, in loops over
// objects, for the names of members, if a previous execution has left none.
func (t *Template) Execute(dst []byte, data map[string]any, limits Limits) ([]byte, error) {
	var e execution
	start := len(dst)
	e.begin(t, dst, data, limits)
	err := e.run(0, len(t.operations))
	e.release()
	if err != nil {
		return dst[:start], err
	}
	return e.dst, nil
}

// execution is the state of a plan that is executed.
type execution struct {
	template *Template
	dst      []byte
	// end is the maximum length of dst.
	end, steps int
	data       map[string]any
	// values are the current values of the scopes; the first is data.
	values [MaxDepth + 1]any
	scope  int
	loops  [MaxDepth]loop
	// loop is the number of loops around.
	loop int
	// keys has the names of members of all loops over objects.
	keys *[]string
	// blank has a mark for each variable that was printed without a value. It may be nil.
	blank []bool
}

// loop is the state of {{#each}}.
type loop struct {
	items []any
	// object and the keys from first on replace items if the loop is over an object.
	object   map[string]any
	first    int
	at, size int
}

func (e *execution) begin(t *Template, dst []byte, data map[string]any, limits Limits) {
	if limits.Output <= 0 {
		limits.Output = MaxOutput
	}
	if limits.Steps <= 0 {
		limits.Steps = MaxSteps
	}
	e.template, e.dst, e.data = t, dst, data
	e.end, e.steps = len(dst)+limits.Output, limits.Steps
	e.values[0] = data
}

// run executes the operations from first up to end, which is not executed.
func (e *execution) run(first, end int) error {
	operations := e.template.operations
	for at := first; at < end; {
		o := &operations[at]
		at++
		if e.steps--; e.steps < 0 {
			return ErrSteps
		}
		switch o.code {
		case opText, opAsset:
			if len(e.dst)+len(o.text) > e.end {
				return ErrOutput
			}
			e.dst = append(e.dst, o.text...)
		case opValue:
			if err := e.print(o); err != nil {
				return err
			}
		default:
			if e.flow(o) {
				at = int(o.jump)
			}
		}
	}
	return nil
}

// flow executes an operation that may jump. It reports whether it does.
func (e *execution) flow(o *operation) (jump bool) {
	switch o.code {
	case opIf:
		return !isTrue(e.lookup(o))
	case opUnless:
		return isTrue(e.lookup(o))
	case opJump:
		return true
	case opEach:
		return !e.each(e.lookup(o))
	case opNext:
		return e.next()
	case opWith:
		v := e.lookup(o)
		if !isSomething(v) {
			return true
		}
		e.scope++
		e.values[e.scope] = v
	case opEndWith:
		e.scope--
	}
	return false
}

// each begins a loop. It returns false if the value has nothing to repeat for.
func (e *execution) each(v any) bool {
	l := &e.loops[e.loop]
	switch v := v.(type) {
	case []any:
		*l = loop{items: v, size: len(v)}
	case map[string]any:
		*l = loop{object: v, size: len(v), first: e.sortKeys(v)}
	default:
		return false
	}
	if l.size == 0 {
		return false
	}
	e.loop++
	e.scope++
	e.values[e.scope] = e.current(l)
	return true
}

// current returns the value of a loop's current repetition.
func (e *execution) current(l *loop) any {
	if l.object != nil {
		return l.object[(*e.keys)[l.first+l.at]]
	}
	return l.items[l.at]
}

// next continues the innermost loop. At its end it returns false.
func (e *execution) next() bool {
	l := &e.loops[e.loop-1]
	if l.at++; l.at < l.size {
		e.values[e.scope] = e.current(l)
		return true
	}
	if l.object != nil {
		*e.keys = (*e.keys)[:l.first]
	}
	e.loop--
	e.scope--
	return false
}

// sortKeys appends the names of an object's members to e.keys and returns the index of the
// first.
func (e *execution) sortKeys(object map[string]any) int {
	if e.keys == nil {
		e.keys = keyLists.Get().(*[]string)
	}
	e.steps -= len(object)
	first := len(*e.keys)
	for name := range object {
		*e.keys = append(*e.keys, name)
	}
	sortNames((*e.keys)[first:])
	return first
}

// keyLists has lists of names for later executions.
var keyLists = sync.Pool{New: func() any { return new([]string) }}

func (e *execution) release() {
	const most = 1024 // a longer list is not kept
	if e.keys != nil && cap(*e.keys) <= most {
		clear((*e.keys)[:cap(*e.keys)])
		*e.keys = (*e.keys)[:0]
		keyLists.Put(e.keys)
	}
}
