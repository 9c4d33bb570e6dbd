/** No track lasts longer: 24 hours. */
export const maxTrackSeconds = 86_400;
/** The last place in a track listing that a file's tags can name. */
export const maxTrackPosition = 999;
