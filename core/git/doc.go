// Package git keeps the definitions of an organization in a Git repository: it reads the newest
// commit of the default branch, has it applied, and proposes changes on branches of their own.
//
// # What this package owns
//
// The connection of an organization (connection.go), which files of a repository are read
// (collect.go), when a repository is read and what is remembered of it (sync.go), which definitions
// are edited in Mailhelm although the repository names them (adoptions.go), and proposed changes
// (proposals.go). It declares [Host], which reads and changes repositories of one kind, and
// [Applier], which applies their files.
//
// # What other packages own
//
// Package git/local speaks to repositories in a folder and over HTTPS, package git/github to
// GitHub. Package bundles/manifest knows what the files mean, and the kinds of definitions their
// rules.
//
// # What is never done
//
// No hook runs, no submodule is fetched, and no file of Git LFS is downloaded. The default branch is
// never written: people review and merge.
package git
