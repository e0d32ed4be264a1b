package simulator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// Example creates a simulated account, stores and reads a contact, and simulates a timeout.
func Example() {
	folder, err := os.MkdirTemp("", "mailhelm")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	s, err := simulator.Open(filepath.Join(folder, "account.db"), simulator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()

	ctx := context.Background()
	err = s.Seed(ctx, "org-1", simulator.Setup{List: &sending.ContactList{
		Name:   "people",
		Topics: []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptOut}},
	}})
	fmt.Println("set up:", err)

	var account sending.Account = s
	err = account.PutContact(ctx, "org-1", sending.Contact{
		Email: "Ada@example.com", Preferences: map[string]sending.Subscription{"news": sending.OptIn},
	})
	fmt.Println("stored:", err)
	ada, err := account.Contact(ctx, "org-1", "ada@EXAMPLE.com")
	fmt.Println("read:", ada.Email, ada.Preferences, err)

	s.Faults().Set(simulator.Fault{Method: simulator.MethodContact, Kind: sending.TimedOut})
	_, err = account.Contact(ctx, "org-1", "ada@example.com")
	problem := core.ProblemOf(sending.Unavailable(err), "", "")
	fmt.Println("at fault:", problem.Status, problem.Code)

	// Output:
	// set up: <nil>
	// stored: <nil>
	// read: Ada@example.com map[news:OPT_IN] <nil>
	// at fault: 504 upstream_unavailable
}
