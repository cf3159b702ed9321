/** What media is, and how far its download is: the filters of the list. */
export const KINDS = ["video", "audio", "image", "playlist", "file"] as const;
export const STATES = ["pending", "processing", "retry", "completed", "failed"] as const;

export const KIND_WORDS = { video: "Video", audio: "Sound", image: "Picture", playlist: "Playlist", file: "File" };
export const STATE_WORDS = {
  pending: "Waiting",
  processing: "Downloading",
  retry: "Retrying",
  completed: "Ready",
  failed: "Failed",
};
