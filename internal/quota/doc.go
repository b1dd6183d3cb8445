// Package quota limits how much of a bounded resource is in use: in all, and
// by one owner, so that one owner cannot take all of it:
//
//	streams := quota.New("event streams", quota.Limits{All: 256, Each: 128})
//	release, err := streams.Take(owner, 1)
//	if err != nil {
//		return err // a *ShareError, or an exhausted *tools.Error for all owners
//	}
//	defer release()
//
// A [Ring] keeps a bounded number of keys by owner; when it is full, the owner
// with the most keys loses its oldest one.
package quota
