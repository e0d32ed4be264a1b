package domainauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// reading is what was read of a document.
type reading struct {
	report  report.Report
	records []report.Record
	// refusal is a word for the error, if the document is no report.
	refusal string
}

// refusal returns the word for an error of report.Parse.
func refusal(err error) string {
	for word, known := range map[string]error{
		"not_report": report.ErrNotReport, "tls_report": report.ErrTLSReport, "corrupt": report.ErrCorrupt, "too_large": report.ErrTooLarge,
	} {
		if errors.Is(err, known) {
			return word
		}
	}
	return err.Error()
}

// field is a member of a JSON object.
type field struct {
	name  string
	value any
}

// text writes a reading as JSON: one line for each field, record and warning, without those that
// are empty. Offsets of warnings are left out.
func (g reading) text() []byte {
	if g.refusal != "" {
		return []byte("{\n  \"refusal\": " + compact(g.refusal) + "\n}\n")
	}
	r := g.report
	return object([]field{
		{"namespace", r.Namespace},
		{"version", r.Version},
		{"org", r.Org},
		{"email", r.Email},
		{"contact", r.Contact},
		{"id", r.ID},
		{"begin", instant(r.Begin)},
		{"end", instant(r.End)},
		{"generator", r.Generator},
		{"errors", r.Errors},
		{"policy", policy(r.Policy)},
		{"messages", r.Messages},
		{"records", lines(g.records, recordLine)},
		{"warnings", lines(r.Warnings, warningLine)},
	})
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func policy(p report.Policy) json.RawMessage {
	return inline([]field{
		{"domain", p.Domain},
		{"p", p.P},
		{"sp", p.SP},
		{"np", p.NP},
		{"adkim", p.ADKIM},
		{"aspf", p.ASPF},
		{"fo", p.FO},
		{"pct", p.Pct},
		{"testing", p.Testing},
		{"discovery", p.Discovery},
	})
}

func recordLine(r report.Record) json.RawMessage {
	return inline([]field{
		{"ip", r.SourceIP.String()},
		{"count", r.Count},
		{"disposition", r.Disposition},
		{"dkim", aligned(r.DKIM)},
		{"spf", aligned(r.SPF)},
		{"from", r.HeaderFrom},
		{"envelope", r.EnvelopeFrom},
		{"reasons", members(r.Reasons, func(r report.Reason) []field { return []field{{"type", r.Type}, {"comment", r.Comment}} })},
		{"signatures", members(r.Signatures, func(s report.Signature) []field {
			return []field{{"domain", s.Domain}, {"selector", s.Selector}, {"result", s.Result}}
		})},
		{"senders", members(r.SPFResults, func(s report.SPFResult) []field {
			return []field{{"domain", s.Domain}, {"scope", s.Scope}, {"result", s.Result}}
		})},
	})
}

func aligned(passed bool) string {
	if passed {
		return "pass"
	}
	return "fail"
}

func warningLine(w report.Warning) json.RawMessage {
	return inline([]field{{"code", w.Code}, {"count", w.Count}, {"detail", w.Detail}})
}

// members writes a list within a line.
func members[T any](all []T, fields func(T) []field) []json.RawMessage {
	var list []json.RawMessage
	for _, one := range all {
		list = append(list, inline(fields(one)))
	}
	return list
}

// lines writes a list with a line for each member.
func lines[T any](all []T, line func(T) json.RawMessage) json.RawMessage {
	if len(all) == 0 {
		return nil
	}
	var b strings.Builder
	for i, one := range all {
		fmt.Fprintf(&b, "%s\n    %s", strings.Repeat(",", min(i, 1)), line(one))
	}
	return json.RawMessage("[" + b.String() + "\n  ]")
}

// object writes an object with a line for each field that is not empty.
func object(fields []field) []byte { return []byte("{\n  " + join(fields, ",\n  ") + "\n}\n") }

// inline writes an object within a line.
func inline(fields []field) json.RawMessage { return json.RawMessage("{" + join(fields, ", ") + "}") }

func join(fields []field, separator string) string {
	var all []string
	for _, f := range fields {
		if !reflect.ValueOf(f.value).IsZero() {
			all = append(all, compact(f.name)+": "+compact(f.value))
		}
	}
	return strings.Join(all, separator)
}

// compact writes a value as it is, without the escapes for HTML.
func compact(value any) string {
	if raw, ok := value.(json.RawMessage); ok {
		return string(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // texts, numbers and lists of these
	}
	return strings.TrimSpace(b.String())
}
