// Package orgs has the commands of `mailhelm org`, which move an organization from one installation
// to another. They work on the database and the data folder; a server may run at the same time.
package orgs
