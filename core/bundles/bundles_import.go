package bundles

import (
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// ImportIn is a bundle to import.
type ImportIn struct {
	DryRun   *bool             `json:"dry_run,omitempty" jsonschema_description:"Whether to return the plan only and change nothing. Default: true."`
	Prune    bool              `json:"prune,omitempty" jsonschema_description:"Whether to archive or delete definitions that a section of the bundle leaves out. Sections that the bundle does not have stay as they are."`
	Manifest json.RawMessage   `json:"manifest,omitempty" jsonschema_description:"Content of mailhelm.json. It can be among files instead."`
	Files    map[string]string `json:"files,omitempty" jsonschema_description:"Contents of text files, by path."`
	Images   map[string]string `json:"images,omitempty" jsonschema_description:"Contents of images in base64, by path."`

	outcome *Imported
}

// isDryRun reports whether nothing is to be changed.
func (in ImportIn) isDryRun() bool { return in.DryRun == nil || *in.DryRun }

// Imported is the result of an import.
type Imported struct {
	DryRun       bool          `json:"dry_run"`
	Plan         *plan.Plan    `json:"plan"`
	Applied      bool          `json:"applied" jsonschema_description:"Whether the definitions are now those of the bundle."`
	Objects      []plan.Object `json:"objects" jsonschema_description:"The objects that this call changed."`
	AppliedUntil *string       `json:"applied_until,omitempty" voice:"ours" jsonschema_description:"After a partial failure: the last kind of which all definitions were changed. Absent if none was."`
	Error        *string       `json:"error,omitempty" voice:"untrusted" jsonschema_description:"What stopped the import. Correct it and import the same bundle again, which continues."`
}

func (b *Bundles) bundlesImport() core.Operation {
	return core.Declare(core.Op[ImportIn, Imported]{
		Name:          "bundles_import",
		Title:         "Import definitions",
		Purpose:       "Compares the files of a bundle with the definitions of the organization and returns the plan; with `dry_run=false` it also applies it, unless a diagnostic is an error. The body is JSON, or a zip archive with `Content-Type: application/zip`. It needs the `.manage` scope of each section of the bundle. Importing the same bundle again changes nothing. It changes no contacts, memberships or consent, and activates no workflow.",
		Example:       `{"manifest": {"lists": {"tasters": {"name": "Tasters", "description": "Come to tastings."}}}}`,
		Effect:        core.Writes,
		ContentScopes: manageScopes(),
		Fails:         []core.Code{core.CodeInvalidScope, core.CodeConflict, core.CodeTestEnvironmentForbidden},
		IgnoresKey:    true,
		Prepare:       b.prepareImport,
		Do: func(_ context.Context, c *core.Call, in ImportIn) (Imported, error) {
			c.SetLogged() // each kind has a line of its own, in the transaction of its changes
			return *in.outcome, nil
		},
	})
}

// prepareImport makes the plan and applies it, before the transaction of the call: each kind has a
// transaction of its own, and topics are written to the sending account.
func (b *Bundles) prepareImport(ctx context.Context, c *core.Call, in ImportIn) (ImportIn, error) {
	tree, err := treeOf(c, in)
	if err != nil {
		return in, err
	}
	files := manifest.Read(tree)
	if err := checkImport(c, in, files); err != nil {
		return in, err
	}
	a := &application{Bundles: b, Adapters: b.NewAdapters(), org: c.Principal.Org, files: files, prune: in.Prune, origin: core.ManagedOrigin, call: c}
	if err := a.makePlan(ctx); err != nil {
		return in, err
	}
	in.outcome = &Imported{DryRun: in.isDryRun(), Plan: a.plan, Objects: []plan.Object{}}
	if in.isDryRun() || !a.plan.Applicable {
		return in, nil
	}
	return in, a.report(in.outcome, a.apply(ctx))
}

// treeOf returns the files of a call: those of a zip archive, or those of the JSON document.
func treeOf(c *core.Call, in ImportIn) (archive.Tree, error) {
	if c.Files == nil {
		return archive.Document{Manifest: in.Manifest, Files: in.Files, Images: in.Images}.Tree()
	}
	if _, ok := c.Files[archive.ManifestPath]; !ok {
		return nil, core.Invalid("body", "is an archive without the file "+archive.ManifestPath+"; pack the content of the folder that has it")
	}
	return c.Files, nil
}

// checkImport refuses a bundle that the credential may not import.
func checkImport(c *core.Call, in ImportIn, files *manifest.Result) error {
	for _, p := range parts() {
		if files.Set.Declared[p.kind] && c.Principal.Scopes.FirstMissing([]core.Scope{p.manage}) != "" {
			return &core.Error{
				Code: core.CodeInvalidScope, Scope: p.manage,
				Message: "The bundle has the section " + core.Quote(string(p.kind.Section())) + ", and this credential lacks the scope `" + string(p.manage) + "`.",
				Next:    "Use a credential with that scope, or remove the section from the manifest.",
			}
		}
	}
	switch {
	case in.isDryRun():
		return nil
	case c.Principal.Org.GitConnected:
		return core.Conflict("This organization's definitions are owned by its connected repository.", "Change them in the repository and let it sync.")
	case in.Prune && c.Principal.Credential.Environment == core.Test:
		return &core.Error{
			Code: core.CodeTestEnvironmentForbidden, Message: "`prune` is refused to test credentials because they work on live data.",
			Next: "Leave `prune` out, keep `dry_run`, or use a live credential.",
		}
	}
	return nil
}

// report stores in an outcome what an application did. It returns the error of one that changed nothing
// because Mailhelm failed.
func (a *application) report(out *Imported, err error) error {
	out.Objects = a.done
	if err == nil {
		out.Applied = true
		return nil
	}
	refusal := core.AsError(err)
	if len(a.done) == 0 && refusal.HTTPStatus() >= 500 {
		return err
	}
	if refusal.IsFault() {
		a.Log.Error("an import stopped", "org_id", a.org.ID, "after", a.last, "error", err)
	}
	text := refusal.Message + " " + refusal.NextStep()
	out.Error = &text
	if a.last != "" {
		kind := string(a.last)
		out.AppliedUntil = &kind
	}
	return nil
}

// The members of the audit line of an application.
type auditDetail struct {
	Kind    definitions.Kind    `json:"kind"`
	Objects map[plan.Action]int `json:"objects"`
}
