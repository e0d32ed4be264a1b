package admin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// orgMailStorage is `mailhelm admin org mail-storage`.
type orgMailStorage struct {
	Show mailStorageShow `cmd:"" help:"Show where received mail of an organization is stored."`
	Set  mailStorageSet  `cmd:"" help:"Store new mail of an organization in a bucket, or in files of this installation."`
	Test mailStorageTest `cmd:"" help:"Write, read, link and delete a test object."`
}

// Help returns the text that --help shows below the summary.
func (orgMailStorage) Help() string {
	return `By default received mail is stored in files in the data folder. A bucket is at Amazon S3 or at another server with its protocol. It is tested before it is stored. Mail that was received before a change stays where it is.

Examples:

    mailhelm admin org mail-storage set acme --bucket acme-mail --region eu-central-1 --access-key-id AKIAIOSFODNN7EXAMPLE --secret-file key.txt
    mailhelm admin org mail-storage set acme --bucket mail --region us-east-1 --endpoint https://s3.example.com --path-style --access-key-id acme --secret-stdin
    mailhelm admin org mail-storage set acme --files
    mailhelm admin org mail-storage test acme --json`
}

// mailStorageTarget holds the flags and the argument that the commands share.
type mailStorageTarget struct {
	installation.Target
	config.Master
	BucketNetworks []string `name:"bucket-networks" help:"Private networks in CIDR form, separated by commas, in which buckets may be. The server needs the same setting." placeholder:"CIDR"`
	Org            string   `arg:"" help:"Slug or id of the organization."`
}

// mailStorageSession is a running command about one organization's mail storage.
type mailStorageSession struct {
	*installation.Session
	org      core.Org
	settings objects.Settings
}

// on opens the database and the master key, and calls the function do.
func (t mailStorageTarget) on(p *cli.Program, do func(context.Context, mailStorageSession) error) error {
	return t.WithOrg(p, t.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		master, err := s.MasterKey(t.Master)
		if err != nil {
			return err
		}
		cfg := s.Config
		cfg.BucketNetworks = t.BucketNetworks
		buckets, err := mailstores.Buckets(cfg)
		if err != nil {
			return err
		}
		defer buckets.Close()
		return do(ctx, mailStorageSession{s, org, objects.NewSettings(objects.SettingsConfig{
			Buckets: s.DB.MailBuckets(master), Opener: buckets, Transactor: s.DB, Networks: len(t.BucketNetworks) > 0, Clock: cfg.Clock, Record: s.Record,
			Files: func(orgID string) (objects.Store, error) {
				// The server creates the folder, so that it belongs to the user of the server.
				if _, err := os.Stat(cfg.ObjectsFolder()); errors.Is(err, fs.ErrNotExist) {
					return nil, errors.New("the folder " + cfg.ObjectsFolder() + " does not exist: start the server once, or name its data folder with --data")
				}
				kept, err := mailstores.Files(cfg, master, "")
				if err != nil {
					return nil, err
				}
				return kept.Of(orgID), nil
			},
		})})
	})
}

// mailStorageJSON is the form in which --json prints where mail is stored. Scripts rely on
// its members. All except OrgID and Kind are missing if mail is stored in files.
type mailStorageJSON struct {
	OrgID string `json:"org_id"`
	// Kind is files or s3.
	Kind        string `json:"kind"`
	StoreID     string `json:"store_id,omitempty"`
	Bucket      string `json:"bucket,omitempty"`
	Region      string `json:"region,omitempty"`
	Endpoint    string `json:"endpoint,omitempty"`
	Prefix      string `json:"prefix,omitempty"`
	PathStyle   bool   `json:"path_style,omitempty"`
	AccessKeyID string `json:"access_key_id,omitempty"`
	Encryption  string `json:"encryption,omitempty"`
	KMSKeyID    string `json:"kms_key_id,omitempty"`
}

// print prints where new mail of the organization is stored.
func (s mailStorageSession) print(ctx context.Context) error {
	b, known, err := s.settings.Of(ctx, s.org.ID)
	if err != nil {
		return err
	}
	shown := mailStorageJSON{OrgID: s.org.ID, Kind: objects.FilesID}
	rows := [][]string{{"organization", s.org.Slug}, {"kind", shown.Kind}}
	if known {
		shown = mailStorageJSON{
			s.org.ID, "s3", b.ID, b.Name, b.Region, b.Endpoint, b.Prefix, b.PathStyle, b.AccessKeyID, string(b.Encryption), b.KMSKeyID,
		}
		rows = [][]string{
			{"organization", s.org.Slug},
			{"kind", shown.Kind},
			{"bucket", b.Name},
			{"region", b.Region},
			{"endpoint", b.Endpoint},
			{"prefix", b.Prefix},
			{"path style", strconv.FormatBool(b.PathStyle)},
			{"access key id", b.AccessKeyID},
			{"encryption", string(b.Encryption)},
			{"kms key id", b.KMSKeyID},
		}
	}
	if s.JSON {
		return s.PrintJSON(shown)
	}
	return s.PrintTable("", rows)
}

// mailStorageShow is `mailhelm admin org mail-storage show`.
type mailStorageShow struct{ mailStorageTarget }

// Run prints where new mail is stored. It never prints the secret.
func (c *mailStorageShow) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s mailStorageSession) error { return s.print(ctx) })
}

// mailStorageSet is `mailhelm admin org mail-storage set`.
type mailStorageSet struct {
	mailStorageTarget
	Files       bool   `help:"Store new mail in files of this installation." xor:"place" once:""`
	Bucket      string `help:"Name of the bucket." xor:"place" once:""`
	Region      string `help:"Region of the bucket, such as eu-central-1." once:""`
	Endpoint    string `help:"URL of the server, if it is not Amazon S3." placeholder:"URL" once:""`
	Prefix      string `help:"Text before the names of all objects." once:""`
	PathStyle   bool   `name:"path-style" help:"Put the bucket into the path of URLs, as most servers other than Amazon's need." once:""`
	AccessKeyID string `name:"access-key-id" help:"Id of the access key." once:""`
	SecretStdin bool   `name:"secret-stdin" help:"Read the secret of the access key from the first line of standard input." xor:"secret" field:"secret" once:""`
	SecretFile  string `name:"secret-file" help:"Read the secret from the first line of a file." xor:"secret" field:"secret" placeholder:"FILE" once:""`
	Encryption  string `help:"Encryption on the server: AES256 or aws:kms. Default: as the bucket is set." once:""`
	KMSKeyID    string `name:"kms-key-id" help:"Key for aws:kms. Default: the key of the account." once:""`
}

// Run tests the bucket and stores it, or returns to files. Without a secret it keeps the
// stored one if the endpoint and the access key are unchanged. It may be repeated. A running
// server stores new mail there within five seconds.
func (c *mailStorageSet) Run(p *cli.Program) error {
	if !c.Files && c.Bucket == "" {
		return errors.New("name a bucket with --bucket, or give --files")
	}
	secret, err := readSecret(p.Stdin, c.SecretStdin, c.SecretFile)
	if err != nil {
		return err
	}
	return c.on(p, func(ctx context.Context, s mailStorageSession) error {
		if c.Files {
			err = s.settings.UseFiles(ctx, s.org.ID)
		} else {
			_, err = s.settings.UseBucket(ctx, s.org.ID, objects.Bucket{
				Endpoint: c.Endpoint, Region: c.Region, Name: c.Bucket, Prefix: c.Prefix, PathStyle: c.PathStyle,
				AccessKeyID: c.AccessKeyID, Secret: secret, Encryption: objects.Encryption(c.Encryption), KMSKeyID: c.KMSKeyID,
			})
		}
		if err != nil {
			return err
		}
		return s.print(ctx)
	})
}

// mailStorageTest is `mailhelm admin org mail-storage test`.
type mailStorageTest struct{ mailStorageTarget }

// testedStorageJSON is the form in which --json prints the result of a test.
type testedStorageJSON struct {
	OrgID    string            `json:"org_id"`
	OK       bool              `json:"ok"`
	Findings []objects.Finding `json:"findings"`
}

// Run tests the place of new mail and prints the result of each step. The exit status is 1
// if a step failed.
func (c *mailStorageTest) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s mailStorageSession) error {
		findings, err := s.settings.Test(ctx, s.org.ID)
		if err != nil {
			return err
		}
		_, failed := objects.Failed(findings)
		if s.JSON {
			err = s.PrintJSON(testedStorageJSON{s.org.ID, !failed, findings})
		} else {
			var rows [][]string
			for _, f := range findings {
				verdict := "ok"
				if !f.OK {
					verdict = "fail"
				}
				rows = append(rows, []string{verdict, string(f.Step), f.Detail})
				if f.Next != "" {
					rows = append(rows, []string{"", "", "-> " + f.Next})
				}
			}
			err = s.PrintTable("", rows)
		}
		if err == nil && failed {
			return cli.ErrReported
		}
		return err
	})
}
