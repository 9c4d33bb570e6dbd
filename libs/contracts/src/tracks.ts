/** Maximum duration of a track: 24 hours. */
export const maxTrackSeconds = 86_400;
/** Maximum position of a track in the tags of a file. */
export const maxTrackPosition = 999;
