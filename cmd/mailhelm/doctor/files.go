package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// configurationFile checks the permissions of the configuration file, which may contain
// secrets. It warns if users have access who do not need it and a setting that can hold a secret
// is set. Without a file it adds no result.
func (e *examination) configurationFile(path string) {
	if path == "" {
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		e.add("configuration file", Fail, err.Error(), "")
	case e.hasSecrets():
		status, fix := secretFileStatus(info.Mode(), ownFile(info))
		found := path
		if status != OK {
			found = fmt.Sprintf("%s has mode %04o, and may contain secrets", path, info.Mode().Perm())
			fix += " " + path
		}
		e.add("configuration file", status, found, fix)
	default:
		e.add("configuration file", OK, path, "")
	}
}

// secretFileStatus judges the mode of a file with secrets, and returns a command without the name
// of the file. The group may read a file of another user, as in /etc/mailhelm, whose files belong
// to root: otherwise the server could not read it.
func secretFileStatus(mode fs.FileMode, own bool) (status Status, fix string) {
	switch {
	case runtime.GOOS == "windows": // access lists decide there, and the bits say nothing
		return OK, ""
	case own && mode.Perm()&0o077 != 0:
		return Warn, "chmod 600"
	case !own && mode.Perm()&0o027 != 0:
		return Warn, "chmod 640"
	default:
		return OK, ""
	}
}

// hasSecrets reports whether a setting that can hold a secret is set.
func (e *examination) hasSecrets() bool {
	c := e.cfg
	return c.MasterKey+c.DatabaseURL+c.DatabaseDirectURL+c.DatabaseReplicaURL+c.RedisURL+c.SystemSMTP+c.RspamdURL+c.GitHub.Key+c.GitHub.ClientSecret+c.GitHub.WebhookSecret != ""
}

// dataFolder checks the permissions of the data folder, and the master key in it. It warns
// if other users have any access to the folder.
func (e *examination) dataFolder() {
	dir := e.cfg.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.missingFolder()
	case err != nil:
		e.add("data folder", Fail, err.Error(), "Make the folder readable for the user that runs mailhelm.")
	case !info.IsDir():
		e.add("data folder", Fail, dir+" is a file", "Choose another folder with --data.")
	case !writable(dir):
		e.add("data folder", Fail, dir+" cannot be written to", "Let the user that runs mailhelm write to it: chown or chmod u+rwx.")
	case othersHaveAccess(info):
		e.add("data folder", Warn, fmt.Sprintf("%s has mode %04o: other users of this machine can read it", dir, info.Mode().Perm()), "chmod 700 "+dir)
	default:
		e.add("data folder", OK, private(dir), "")
		e.diskSpace(dir)
	}
	e.masterKey()
}

// missingFolder checks whether a server could create the data folder, which does not exist
// yet.
func (e *examination) missingFolder() {
	parent := filepath.Dir(filepath.Clean(e.cfg.DataDir))
	for parent != filepath.Dir(parent) {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent = filepath.Dir(parent)
	}
	if !writable(parent) {
		e.add("data folder", Fail, e.cfg.DataDir+" does not exist and cannot be created in "+parent, "Create it, or choose another folder with --data.")
		return
	}
	e.add("data folder", OK, e.cfg.DataDir+" does not exist yet; the first start creates it", "")
	e.diskSpace(parent)
}

// writable reports whether a file can be created in dir. It creates and removes a file,
// because permission bits do not show read-only mounts or the rights of root.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".mailhelm-doctor-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// masterKey checks that the master key can be read. It does not create a missing key. The
// method signingKeys checks that the key decrypts the stored signing keys.
func (e *examination) masterKey() {
	const name = "master key"
	path := e.cfg.MasterKeyFile()
	if e.cfg.MasterKey == "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			e.add(name, OK, path+" does not exist yet; the first start creates it", "")
			return
		}
	}
	if _, err := e.cfg.OpenMasterKey(); err != nil {
		e.add(name, Fail, err.Error(), "Restore the right key from the backup of the data folder or from your secret store. Without it the server cannot sign tokens.")
		return
	}
	where := "from the configuration"
	if e.cfg.MasterKey == "" {
		where = private(path)
	}
	e.add(name, OK, where, "")
}

// othersHaveAccess reports whether the permission bits of a file give other users any
// access. On Windows it returns false, because access lists decide there, and the bits say
// nothing.
func othersHaveAccess(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// private returns the text for a file or folder that passed the check of its permissions.
func private(path string) string {
	if runtime.GOOS == "windows" {
		return path + "; who else has access is not checked on Windows"
	}
	return path + ", only its owner has access"
}
