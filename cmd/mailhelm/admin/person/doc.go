// Package person has the commands of `mailhelm admin person`, which export and erase the data
// of a person that an organization writes to. The dashboard does the same for members with the
// permission; agents and the public API cannot.
package person
