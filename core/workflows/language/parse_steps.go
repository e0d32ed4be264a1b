package language

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

const stepHint = `a step: send, wait, if, split, hold out, repeat, set, add to list or exit`

var stepWords = []string{"send", "wait", "if", "split", "hold", "repeat", "set", "add", "exit"}

// step parses one step. It returns nil if the step has a fault.
func (p *parser) step() Step {
	start := p.tok
	if start.Kind != predicate.WordToken || !slices.Contains(stepWords, start.Text) {
		p.notAStep()
		return nil
	}
	if p.steps++; p.steps > MaxSteps {
		p.limit(LimitSteps, start)
		return nil
	}
	p.advance()
	var step Step
	at := Offset(start.Start)
	switch start.Text {
	case "send":
		step = p.send(at)
	case "wait":
		step = p.wait(at)
	case "if":
		step = p.branch(at)
	case "split":
		step = p.split(start)
	case "hold":
		p.word("out")
		step = &HoldOut{Offset: at, Percent: p.percent()}
	case "repeat":
		step = p.repeat(at)
	case "set":
		step = &SetAttribute{Offset: at, Assignment: p.embedded(predicate.ParseAssignmentAt)}
	case "add":
		step = p.addToList(at)
	case "exit":
		step = p.leave(at)
	}
	if p.failed {
		return nil
	}
	return step
}

// notAStep records the fault that no step begins at the current token.
func (p *parser) notAStep() {
	t := p.tok
	if t.Is("else") {
		p.fail(t, predicate.Error{Message: "else without an if before it", Expected: stepHint})
		return
	}
	p.failExpecting(stepHint, append([]string{"enter", "reentry", "frequency", "enroll"}, stepWords...)...)
	if meant := stepOfVerb[t.Text]; meant != "" && t.Kind == predicate.WordToken {
		p.fault.Suggestion = meant
	}
}

// stepOfVerb maps words of other languages and tools to the step that they mean.
var stepOfVerb = map[string]string{
	"email": "send", "mail": "send", "deliver": "send", "delay": "wait", "sleep": "wait", "pause": "wait",
	"stop": "exit", "end": "exit", "leave": "exit", "loop": "repeat", "when": "if", "branch": "if", "trigger": "enter on",
}

// body parses: "{" { step } "}".
func (p *parser) body() Block {
	open := p.tok
	p.sign("{")
	return p.restOfBlock(open)
}

// restOfBlock parses the steps of a block after its "{", and the "}".
func (p *parser) restOfBlock(open predicate.Token) Block {
	if p.failed {
		return Block{}
	}
	b := p.block(open, nil)
	p.failed = false // faults inside the block do not concern the statement around it
	return b
}

// send parses the rest of: "send" STRING [ "via" "topic" ( STRING | WORD ) ] [ "transactional" ].
func (p *parser) send(at Offset) Step {
	s := &Send{Offset: at}
	s.Template, s.TemplateAt = p.text(`the "name" of a template`)
	for !p.failed {
		t := p.tok
		switch {
		case p.accept("via"):
			p.word("topic")
			s.TopicAt = Offset(p.tok.Start)
			s.Topic = p.topic()
		case p.accept("transactional"):
			s.Transactional = true
		default:
			return s
		}
		if s.Transactional && s.Topic != "" {
			p.fail(t, predicate.Error{Message: "a transactional message has no topic", Expected: `"via topic" or "transactional", not both`})
		}
	}
	return s
}

// topic parses the name of a topic: a STRING or one word on the line of its "via topic".
func (p *parser) topic() string {
	t := p.tok
	if !p.failed && t.Kind == predicate.WordToken && !p.startsStatement() {
		p.advance()
		if p.tok.Start == t.End && p.tok.Sign("-") {
			name, _, _ := strings.Cut(strings.Fields(p.source[t.Start:])[0], "}")
			p.fail(t, predicate.Error{Message: "the name of a topic is in quotes if it is not one word", Suggestion: predicate.StringLiteral(name)})
		}
		return t.Text
	}
	name, _ := p.text(`the "name" of a topic`)
	return name
}

// wait parses the rest of: "wait" ( duration | "until" ( DATE | ATTR ) | "up" "to" duration
// "until" predicate [ "{" "timeout" ":" { step } "}" ] ).
func (p *parser) wait(at Offset) Step {
	switch {
	case p.accept("until"):
		return p.waitUntil(at)
	case p.accept("up"):
		p.word("to")
		w := &WaitFor{Offset: at, UpTo: p.duration(1)}
		p.word("until")
		w.Until = p.predicate()
		if !p.failed && p.tok.Sign("{") {
			w.Timeout = p.timeout()
		}
		return w
	}
	if !p.failed && p.tok.Kind == predicate.WordToken {
		p.failExpecting(`a duration such as 3 days, "until" or "up to"`, "until", "up")
		if p.tok.Is("for") {
			p.fault.Suggestion = "wait 3 days"
		}
	}
	return &Wait{Offset: at, For: p.duration(1)}
}

func (p *parser) waitUntil(at Offset) Step {
	w := &WaitUntil{Offset: at}
	switch t := p.tok; t.Kind {
	case predicate.DateToken:
		w.Micros = t.Micros
		p.advance()
	case predicate.AttributeToken:
		w.Attribute, w.AttributeAt = p.attribute()
	default:
		p.failExpecting("a date, YYYY-MM-DD, or a datetime attribute, attr.<name>; a condition is written wait up to 3 days until ...")
	}
	return w
}

// timeout parses: "{" "timeout" ":" { step } "}".
func (p *parser) timeout() Block {
	open := p.tok
	p.advance()
	p.word("timeout")
	p.sign(":")
	if p.failed {
		p.closeBlock()
		return Block{}
	}
	return p.restOfBlock(open)
}

// branch parses the rest of: "if" predicate block { "else" "if" predicate block } [ "else"
// block ].
func (p *parser) branch(at Offset) Step {
	n := &If{Offset: at}
	for {
		arm := Arm{When: p.predicate()}
		arm.Then = p.body()
		n.Arms = append(n.Arms, arm)
		if !p.accept("else") {
			return n
		}
		if !p.accept("if") {
			last := p.body()
			n.Else = &last
			return n
		}
		if len(n.Arms) > MaxSteps {
			p.limit(LimitSteps, p.tok)
			return n
		}
	}
}

// split parses the rest of: "split" "{" { NUMBER "%" ":" block } "}".
func (p *parser) split(start predicate.Token) Step {
	n := &Split{Offset: Offset(start.Start)}
	if p.sign("{"); p.failed {
		return n
	}
	total := 0
	for !p.failed && !p.tok.Sign("}") {
		share := Share{Offset: Offset(p.tok.Start)} // before percent, which reads the token
		share.Percent = p.percent()
		p.sign(":")
		share.Body = p.body()
		total += share.Percent
		n.Shares = append(n.Shares, share)
	}
	if p.failed {
		p.closeBlock()
		return n
	}
	p.advance()
	switch {
	case len(n.Shares) < 2:
		p.fail(start, predicate.Error{Message: "a split has at least two shares"})
	case total != 100:
		p.fail(start, predicate.Error{Message: "the shares of the split are " + itoa(total) + "% together", Expected: "100% together"})
	}
	p.failed = false // the statement is complete
	return n
}

// repeat parses the rest of: "repeat" "up" "to" NUMBER "every" duration [ "until" predicate ]
// block.
func (p *parser) repeat(at Offset) Step {
	n := &Repeat{Offset: at}
	p.word("up")
	p.word("to")
	passes := p.tok
	n.Times = p.integer("the number of passes", 1, 1_000_000)
	if !p.failed && n.Times > MaxRepeat {
		p.limit(LimitRepeat, passes)
		p.failed = false
	}
	p.word("every")
	n.Every = p.duration(1)
	if p.accept("until") {
		n.Until = p.predicate()
	}
	n.Body = p.body()
	return n
}

// leave parses nothing more: the step is "exit". It refuses a condition, which needs a name.
func (p *parser) leave(at Offset) Step {
	if p.tok.Is("when") {
		p.fail(p.tok, predicate.Error{Message: "an exit with a condition needs a name", Expected: `exit "name" when ..., before the first step`})
	}
	return &Leave{Offset: at}
}

func (p *parser) addToList(at Offset) Step {
	s := &AddToList{Offset: at}
	p.word("to")
	p.word("list")
	s.Key, s.KeyAt = p.text(`the "key" of a list`)
	return s
}
