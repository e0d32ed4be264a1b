package templates

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/sending"
)

// DeployEvery is the interval at which templates that are not in the sending accounts yet
// are deployed again. A saved version is deployed at once.
const DeployEvery = 15 * time.Minute

// The limits of one deployment of an organization, which exist for the reasons of maxRead.
const (
	maxDeployed = 200
	deployFor   = 4 * time.Minute
	// betweenCalls is the time between two calls about templates. SES allows one a second.
	betweenCalls = time.Second
)

// DeployArgs has the arguments of the job that deploys managed templates.
type DeployArgs struct {
	// OrgID is the organization whose templates to deploy; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job that deploys managed templates.
func (DeployArgs) Kind() string { return "template_deploy" }

// Org returns the id of the organization, or "" for all; see [jobs.OrgArgs].
func (a DeployArgs) Org() string { return a.OrgID }

// MailSettings reads the settings with which mail is finished.
type MailSettings interface {
	// Of returns the settings of an organization, the defaults if it has changed none.
	Of(ctx context.Context, orgID string) (mailsettings.Settings, error)
}

// DeployConfig configures [Deployer]. All fields are required, except those whose comment
// gives nil a meaning.
type DeployConfig struct {
	Store   DeployStore
	Managed ManagedStore
	Account DeployAccount
	// Settings has the settings with which templates are finished.
	Settings MailSettings
	// Images gives images their addresses before content is finished. If it is nil, content
	// names no images.
	Images Images
	// Orgs returns the ids of all organizations, for the periodic job.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// Wait waits for a time, or until ctx ends, which is an error. It paces the calls to the
	// account. If it is nil, calls are not paced.
	Wait func(ctx context.Context, d time.Duration) error
}

// DeployAccount has the methods of the sending account that a deployment uses.
type DeployAccount interface {
	Template(ctx context.Context, orgID, name string) (sending.Template, error)
	PutTemplate(ctx context.Context, orgID string, t sending.Template) error
}

// Deployer puts managed templates into sending accounts.
type Deployer struct {
	DeployConfig
	deploying deployments
}

// NewDeployer returns a Deployer. A process must have one for all runs, so that two runs do
// not deploy the same templates.
func NewDeployer(cfg DeployConfig) *Deployer { return &Deployer{DeployConfig: cfg} }

// Worker returns the job that puts the newest version of each managed template into the
// organization's sending account.
func (d *Deployer) Worker() jobs.Worker[DeployArgs] {
	return jobs.Worker[DeployArgs]{Every: DeployEvery, Timeout: DeployEvery, Work: func(ctx context.Context, args DeployArgs) error {
		return jobs.ForEachOrg(ctx, args.OrgID, d.Orgs, "deployment", d.Deploy)
	}}
}

// Deploy puts the newest version of each managed template of an organization into its
// account, if the account does not have it or if the mail settings have changed. The
// content is finished as [Finish] says. Each result is stored after its call, so an
// interrupted run loses nothing. At most maxDeployed templates are deployed in a run, one
// call a second. If a run for the organization is already working in this process, Deploy
// returns at once, and that run also deploys what is due now.
//
// A template that the account refuses keeps the failure, and Deploy continues with the next
// one. If the organization has no account, or one that stores no templates, all templates
// keep that failure, and Deploy returns nil: there is no call to retry. Any other failure
// ends Deploy.
func (d *Deployer) Deploy(ctx context.Context, orgID string) error {
	if !d.deploying.begin(orgID) {
		return nil
	}
	ended := false
	defer func() {
		if !ended {
			d.deploying.end(orgID)
		}
	}()
	until := d.Clock().Add(deployFor)
	for !ended {
		if err := d.deployDue(ctx, orgID, until); err != nil {
			return err
		}
		ended = !d.deploying.again(orgID)
	}
	return nil
}

// deployDue deploys templates until none is due, each version at most once.
func (d *Deployer) deployDue(ctx context.Context, orgID string, until time.Time) error {
	tried := map[string]int{} // the versions, by the template's id
	for n := 0; n < maxDeployed && d.Clock().Before(until); n++ {
		at := d.Clock() // before the settings are read, so that a later change is found to be later
		settings, err := d.Settings.Of(ctx, orgID)
		if err != nil {
			return err
		}
		due, err := d.Store.Undeployed(ctx, orgID, settings.UpdatedAt, 1)
		if err != nil || len(due) == 0 || tried[due[0].ID] == due[0].Newest {
			return err
		}
		tried[due[0].ID] = due[0].Newest
		if n > 0 {
			if err := d.pause(ctx); err != nil {
				return err
			}
		}
		err = d.deploy(ctx, orgID, due[0], settings, at)
		if isWithoutTemplates(err) {
			return d.Store.RefuseDeployments(ctx, orgID, settings.UpdatedAt, failureKind(err), d.Clock())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pause waits until the next call to the account is allowed.
func (d *Deployer) pause(ctx context.Context) error {
	if d.Wait == nil {
		return nil
	}
	return d.Wait(ctx, betweenCalls)
}

// isWithoutTemplates reports whether a call failed because the organization has no account,
// or one that stores no templates.
func isWithoutTemplates(err error) bool {
	kind := failureKind(err)
	return kind == sending.NotConnected || kind == sending.Unsupported
}

// failureKind returns the kind of a failure of the account, "" for other errors and nil.
func failureKind(err error) sending.FailureKind {
	if f, ok := errors.AsType[*sending.Failure](err); ok {
		return f.Kind
	}
	return ""
}

// deploy deploys one template and stores the result with the time at. It returns the
// failures because of which the other templates cannot be deployed now either.
func (d *Deployer) deploy(ctx context.Context, orgID string, u Undeployed, settings mailsettings.Settings, at time.Time) error {
	stored, err := d.Managed.ManagedBySlug(ctx, orgID, u.Slug)
	if core.IsNotFound(err) { // deleted since
		return nil
	}
	if err != nil {
		return err
	}
	content := stored.Newest.Content()
	if d.Images != nil {
		if content, err = d.Images(ctx, orgID, content); err != nil {
			return err
		}
	}
	content = Finish(content, settings)
	content.Name = stored.DeployedName
	err = d.putTemplate(ctx, orgID, u, content)
	kind := failureKind(err)
	switch {
	case err == nil:
		return d.Store.SaveDeployed(ctx, orgID, u, stored.Newest.Number, at)
	case kind == "" || isWithoutTemplates(err):
		return err
	}
	d.Log.WarnContext(ctx, "a template was not deployed", "org_id", orgID, "template", content.Name, "error", err)
	if failed := d.Store.SaveDeployFailure(ctx, orgID, u.ID, kind, at); failed != nil {
		return errors.Join(err, failed)
	}
	if sending.IsRefusedObject(err) || kind == NameTaken {
		return nil
	}
	return err
}

// putTemplate puts the finished content into the account. Before the first time, it checks
// that the account has no template of this name, unless it has the same content, which an
// interrupted run has left. It does not call the account with content that has faults.
func (d *Deployer) putTemplate(ctx context.Context, orgID string, u Undeployed, content sending.Template) error {
	if _, err := Compile(content); err != nil {
		return &sending.Failure{Kind: sending.Invalid, Err: err}
	}
	if !u.Claimed {
		existing, err := d.Account.Template(ctx, orgID, content.Name)
		switch {
		case err == nil && HashOf(existing) != HashOf(content):
			return &sending.Failure{Kind: NameTaken, Err: errors.New("the account has another template of this name")}
		case err != nil && !sending.IsNotFound(err):
			return err
		}
		if err := d.Store.ClaimName(ctx, orgID, u.ID); err != nil {
			return err
		}
		if err := d.pause(ctx); err != nil {
			return err
		}
	}
	return d.Account.PutTemplate(ctx, orgID, content)
}
