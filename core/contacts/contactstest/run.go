package contactstest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Run runs an operation with the steps of package guardrails: decode, Prepare, and Do in a
// transaction.
func (w *World) Run(ctx context.Context, name, arguments string) (any, *core.Error) {
	op := w.ops[name]
	call := &core.Call{Principal: core.Principal{Org: w.Org, Credential: w.Credential}, Surface: w.Surface, Now: w.Clock()}
	defer call.Finish()
	in, err := op.Decode(w.Surface, []byte(arguments))
	if err != nil {
		return nil, core.AsError(err)
	}
	if in, err = op.Prepare(ctx, call, in); err != nil {
		return nil, core.AsError(err)
	}
	var out any
	err = w.DB.InTx(ctx, func(ctx context.Context) error {
		out, err = op.Do(ctx, call, in)
		return err
	})
	return out, core.AsError(err)
}

// Want runs an operation that must succeed and returns its result as JSON, in the form for
// w.Surface (REST or agent). It fails the test if the result does not match the operation's
// output schema.
func (w *World) Want(t testing.TB, name, arguments string) map[string]any {
	t.Helper()
	out, err := w.Run(t.Context(), name, arguments)
	if err != nil {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
	raw, jsonErr := json.Marshal(w.ops[name].View(w.Surface, out))
	must(t, jsonErr)
	if err := w.ops[name].Output(w.Surface).Check(raw); err != nil {
		t.Errorf("%s: the result does not fit its own schema: %v\n%s", name, err, raw)
	}
	var shown map[string]any
	must(t, json.Unmarshal(raw, &shown))
	return shown
}

// Refusal runs an operation that must fail with the code and returns the error.
func (w *World) Refusal(t testing.TB, name, arguments string, code core.Code) *core.Error {
	t.Helper()
	_, err := w.Run(t.Context(), name, arguments)
	if err == nil || err.Code != code {
		t.Fatalf("%s(%s) = %v, want %s", name, arguments, err, code)
	}
	return err
}

// Refuse runs an operation that must fail with the code.
func (w *World) Refuse(t testing.TB, name, arguments string, code core.Code) {
	t.Helper()
	_ = w.Refusal(t, name, arguments, code)
}

// AccountContact returns the consent that the sending account has for an address, and
// whether the account has the address.
func (w *World) AccountContact(t testing.TB, email string) (sending.Contact, bool) {
	t.Helper()
	c, err := w.Account.Contact(t.Context(), w.Org.ID, email)
	if sending.IsNotFound(err) {
		return c, false
	}
	must(t, err)
	return c, true
}

// Emails returns the addresses in a result that is a page of contacts or members.
func Emails(page map[string]any) []string {
	var all []string
	for _, c := range page["data"].([]any) {
		all = append(all, c.(map[string]any)["email"].(string))
	}
	return all
}

// ListKeys returns the keys of the lists that a contact is on. contact is the decoded JSON
// of an operation's result.
func ListKeys(contact map[string]any) []string {
	var keys []string
	lists, _ := contact["lists"].([]any)
	for _, l := range lists {
		keys = append(keys, l.(map[string]any)["key"].(string))
	}
	return keys
}

// Choices returns the choices in the topic_preferences of a contact, by topic. contact is
// the decoded JSON of an operation's result.
func Choices(contact map[string]any) map[string]any {
	m := map[string]any{}
	for _, p := range contact["topic_preferences"].([]any) {
		m[p.(map[string]any)["topic"].(string)] = p.(map[string]any)["subscription_status"]
	}
	return m
}

// PutAtAccount changes the consent for an address at the sending account, without Mailhelm:
// like a person who unsubscribes there.
func (w *World) PutAtAccount(t testing.TB, c sending.Contact) {
	t.Helper()
	must(t, w.Account.PutContact(t.Context(), w.Org.ID, c))
}

// SyncNow syncs the database with the sending account. Bulk writes need it once, because
// they read the account's topics from the database.
func (w *World) SyncNow(t testing.TB) {
	t.Helper()
	_, err := w.Sync.Run(t.Context(), w.Org.ID)
	must(t, err)
}

// SyncLater advances the clock by a minute, syncs with the sending account, and returns the
// report of the sync.
func (w *World) SyncLater(t testing.TB) topics.SyncReport {
	t.Helper()
	w.Advance(time.Minute)
	report, err := w.Sync.Run(t.Context(), w.Org.ID)
	must(t, err)
	return report
}
