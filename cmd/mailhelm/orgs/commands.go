package orgs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"filippo.io/age"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/orgmove"
)

// Commands is `mailhelm org`.
type Commands struct {
	Export exportCommand `cmd:"" help:"Write everything that an organization has to an encrypted archive."`
	Import importCommand `cmd:"" help:"Store an organization from an archive in this installation."`
}

// Help returns the text that --help shows below the summary.
func (Commands) Help() string {
	return `Moves an organization to another installation: its contacts, definitions, messages, workflows with their runs, settings, credentials, received mail and images. The databases may differ. Both installations need the same version of Mailhelm.

The archive has the secrets of the organization, so it is encrypted with age (age-encryption.org): with a passphrase, or for the key of the operator who imports it. The passphrase is in a file or in the variable MAILHELM_ARCHIVE_PASSPHRASE, never on the command line.

People keep their roles. Passwords and second factors stay behind: people who are new in the other installation set a password with a link from its sign-in page, or you set one with 'mailhelm admin user set-password'.

Examples:

    mailhelm org export acme --out acme.age --stop --passphrase-file passphrase.txt
    mailhelm org import acme.age --passphrase-file passphrase.txt
    mailhelm org export acme --out acme.age --keep-running --recipient age1...
    mailhelm org import acme.age --identity-file key.txt --slug acme-copy --json`
}

// target has the flags that both commands share.
type target struct {
	installation.Target
	config.Master
	PassphraseFile string `help:"File with the passphrase of the archive, at least 12 characters. Default: the variable MAILHELM_ARCHIVE_PASSPHRASE." placeholder:"FILE" once:""`
	// ArchivePassphrase is set by the environment, because other users of the machine can read
	// command lines.
	ArchivePassphrase string `hidden:"" secret:"whole"`
}

// minPassphrase is the minimum length of a passphrase. The archive may get into the hands of people
// who try many.
const minPassphrase = 12

// passphrase returns the passphrase, or "" if none was given.
func (t target) passphrase() (string, error) {
	text := t.ArchivePassphrase
	if t.PassphraseFile != "" {
		content, err := os.ReadFile(t.PassphraseFile)
		if err != nil {
			return "", fmt.Errorf("passphrase: %w", err)
		}
		if text = strings.TrimRight(string(content), "\r\n"); text == "" {
			return "", fmt.Errorf("the file %s has no passphrase", t.PassphraseFile)
		}
	}
	if text != "" && len(text) < minPassphrase {
		return "", fmt.Errorf("the passphrase has %d characters: give at least %d, such as five random words", len(text), minPassphrase)
	}
	return text, nil
}

// recipients returns those who can open the archive.
func (t target) recipients(keys []string) ([]age.Recipient, error) {
	passphrase, err := t.passphrase()
	switch {
	case err != nil:
		return nil, err
	case passphrase != "" && len(keys) > 0:
		return nil, errors.New("give a passphrase or --recipient, not both")
	case passphrase != "":
		one, err := age.NewScryptRecipient(passphrase)
		return []age.Recipient{one}, err
	case len(keys) == 0:
		return nil, errors.New("the archive must be encrypted: name a file with a passphrase with --passphrase-file, set the variable MAILHELM_ARCHIVE_PASSPHRASE, or give the key of the operator who imports it with --recipient")
	}
	all := make([]age.Recipient, len(keys))
	for i, key := range keys {
		if all[i], err = age.ParseX25519Recipient(key); err != nil {
			return nil, fmt.Errorf("--recipient %.80q is not a key of age: it begins with age1, as 'age-keygen' prints it", key)
		}
	}
	return all, nil
}

// maxWorkFactor bounds the memory that an archive makes the import use for its passphrase: 256 MB.
const maxWorkFactor = 18

// identities returns what opens the archive.
func (t target) identities(file string) ([]age.Identity, error) {
	passphrase, err := t.passphrase()
	switch {
	case err != nil:
		return nil, err
	case passphrase != "" && file != "":
		return nil, errors.New("give a passphrase or --identity-file, not both")
	case passphrase != "":
		one, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, err
		}
		one.SetMaxWorkFactor(maxWorkFactor)
		return []age.Identity{one}, nil
	case file == "":
		return nil, errors.New("the archive is encrypted: name a file with its passphrase with --passphrase-file, set the variable MAILHELM_ARCHIVE_PASSPHRASE, or name a file with your key with --identity-file")
	}
	text, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	defer func() { _ = text.Close() }() // it was only read
	all, err := age.ParseIdentities(text)
	if err != nil {
		return nil, fmt.Errorf("%s has no key of age: it has lines that begin with AGE-SECRET-KEY-1, as 'age-keygen' writes them", file)
	}
	return all, nil
}

// countsOf returns the lines of a result that say how much an archive has.
func countsOf(m orgmove.Manifest) [][]string {
	return [][]string{
		{"rows", strconv.FormatInt(m.Rows(), 10)},
		{"objects", strconv.FormatInt(m.Objects.Count, 10)},
	}
}
