package demodata

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/contactupload"
	uploads "github.com/mailhelm/mailhelm/storage/contactimport"
)

// importedAgo is how long ago the demo's contact file was imported. Its rejected rows are
// kept for five more days.
const importedAgo = 2 * 24 * time.Hour

// faultyRows are the rows of the demo's contact file that are rejected.
var faultyRows = [][]string{
	{"roastery at example.com", "The Roastery", "Gent", "24"},
	{"orders@example.net", "Café Norte", "Lisboa", "about twenty"},
	{"hello@example.org", "Corner Shop, Malmö"},
}

// importFile stores a completed import. Its file has the wholesale partners and faultyRows.
// The counts are those of a dry run of the file: the contacts exist already, so nothing needs
// to be imported.
func (p Past) importFile(ctx context.Context, orgID string) error {
	owner, err := p.DB.Users().UserByEmail(ctx, userEmail)
	if err != nil {
		return err
	}
	people, err := p.DB.Contacts().Contacts(ctx, orgID, contacts.ContactFilter{Limit: PeopleCount})
	if err != nil {
		return err
	}
	file, err := wholesaleFile(people)
	if err != nil {
		return err
	}
	sample, err := contactfile.ReadSample(bytes.NewReader(file))
	if err != nil {
		return err
	}
	partners, err := p.DB.Lists().ListsByRef(ctx, orgID, []string{wholesaleList})
	if err != nil {
		return err
	}
	if len(partners) != 1 {
		return fmt.Errorf("there are %d lists with the key %s, not one", len(partners), wholesaleList)
	}
	received := p.Clock().Add(-importedAgo)
	completed := received.Add(2 * time.Minute)
	up := contactupload.Upload{
		ID: core.NewID(), FileName: "wholesale-partners.csv", UploadedBy: owner.ID, ImportedBy: owner.ID, Size: int64(len(file)), Sample: sample,
		Status: contactupload.Completed, Run: core.NewID(), CreatedAt: received, CompletedAt: &completed,
		Settings: contactupload.Settings{
			Delimiter: sample.Delimiter, Targets: []string{"email", "attributes.last_name", "attributes.city", "attributes.orders"},
			List: partners[0].ID, ListName: partners[0].Name,
		},
	}
	var rejected bytes.Buffer
	if up.Import, err = p.tryFile(ctx, orgID, file, up.Settings, &rejected); err != nil {
		return err
	}
	up.Check = up.Import
	store := uploads.New(p.DB.DB)
	if err := store.InsertUpload(ctx, orgID, up); err != nil {
		return err
	}
	if err := store.UpdateUpload(ctx, orgID, up); err != nil { // sets the end of the import
		return err
	}
	return store.WriteChunk(ctx, orgID, up.ID, contactupload.RejectedChunk, 0, rejected.Bytes())
}

// wholesaleFile returns a contact file with the wholesale partners among the people. After
// the fifth partner it has faultyRows.
func wholesaleFile(people []contacts.Contact) ([]byte, error) {
	rows := [][]string{{"email", "last_name", "city", "orders"}}
	for _, c := range people {
		if c.Attributes["wholesale"] != true {
			continue
		}
		rows = append(rows, []string{c.Email, fmt.Sprint(c.Attributes["last_name"]), fmt.Sprint(c.Attributes["city"]), fmt.Sprint(c.Attributes["orders"])})
		if len(rows) == 6 {
			rows = append(rows, faultyRows...)
		}
	}
	var file bytes.Buffer
	err := csv.NewWriter(&file).WriteAll(rows)
	return file.Bytes(), err
}

// tryFile runs a dry run of the file. It returns the counts and writes the rejected rows to
// rejected.
func (p Past) tryFile(ctx context.Context, orgID string, file []byte, settings contactupload.Settings, rejected *bytes.Buffer) (contactupload.Result, error) {
	attributes, err := p.Domains.Bulk.AttributeNames(ctx, orgID)
	if err != nil {
		return contactupload.Result{}, err
	}
	rows, err := contactfile.Open(bytes.NewReader(file), contactfile.Config{Delimiter: settings.Delimiter, Targets: settings.Targets, Attributes: attributes})
	if err != nil {
		return contactupload.Result{}, err
	}
	writer := contactfile.NewRejectedWriter(rejected, rows.Header(), rows.Delimiter())
	sum, err := contactimport.Run(ctx, contactimport.Config{People: p.Domains.Bulk, OrgID: orgID, DryRun: true, Rejected: writer.Write}, rows)
	return contactupload.Result{Summary: sum, Read: sum.Bytes}, err
}
